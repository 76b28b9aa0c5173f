"""ms.schedule_rule and ms.space_generator.PostOrderApply."""

from tilewright import tune

from .spaces import _mutators_of, _postprocs_of, _WithParts, require_default


class PostOrderApply(_WithParts, tune.DefaultSpace):
    """The default space; its candidates pass `postprocs` if these are given."""

    def __init__(
        self,
        f_block_filter=None,
        sch_rules="from-target",
        postprocs="from-target",
        mutator_probs="from-target",
    ):
        require_default(
            "PostOrderApply", f_block_filter=(f_block_filter, None), sch_rules=(sch_rules, "from-target")
        )
        super().__init__()
        # what the rules make needs no postprocessing
        self.postprocs = [] if postprocs in (None, "from-target") else _postprocs_of(postprocs)
        self.mutators = _mutators_of(mutator_probs)
