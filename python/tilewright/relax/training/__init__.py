"""Training: losses, optimizers, and the loop that joins them with gradients."""

from . import loss, optimizer
from .append_loss import AppendLoss
from .setup_trainer import SetupTrainer
from .trainer import Trainer

__all__ = ["AppendLoss", "SetupTrainer", "Trainer", "loss", "optimizer"]
