"""The kinds of steps that a random graph may have, and how often each is drawn."""

from . import elements, images, moves, reductions, structure

MAKERS = {
    **elements.MAKERS,
    **reductions.MAKERS,
    **moves.MAKERS,
    **images.MAKERS,
    **structure.MAKERS,
}
