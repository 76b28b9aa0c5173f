"""tvm.tir.Layout and BijectiveLayout."""

from tilewright.arith import layouts

NAMES = {
    "Layout": layouts.Layout,
    "SLayout": layouts.Layout,
    "BijectiveLayout": layouts.BijectiveLayout,
    "SBijectiveLayout": layouts.BijectiveLayout,
    "layout": layouts.layout,
    "slayout": layouts.layout,
    "bijective_layout": layouts.bijective_layout,
    "sbijective_layout": layouts.bijective_layout,
}
