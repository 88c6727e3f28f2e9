"""Operations by name, in kinds that treat channels and pixels alike, and why some are refused."""

from __future__ import annotations

ODD = (
    "neg clone contiguous detach to float double half bfloat16 type cpu cuda tanh softsign "
    "hardshrink softshrink tanhshrink sin asinh atan erf dropout alpha_dropout feature_dropout "
    "dropout1d dropout2d dropout3d feature_alpha_dropout requires_grad positive sign"
)
POINTWISE = (
    "relu relu6 leaky_relu prelu elu selu celu gelu silu mish sigmoid hardsigmoid hardswish "
    "softplus logsigmoid exp log log1p sqrt rsqrt abs square pow clamp clamp_min "
    "clamp_max clip "
    "hardtanh threshold cos reciprocal rrelu expm1 cosh sinh logit nan_to_num"
)
BINARY = (
    "add sub rsub subtract mul multiply div divide true_divide maximum minimum fmax fmin radd rmul "
    "rdiv rtruediv truediv iadd imul isub rpow atan2"
)
SELECT = "where masked_fill"
LIKE = "zeros_like ones_like full_like"
CONSTANT = ["new_zeros", "new_ones", "new_full", "new_empty", "new_tensor"]
COMPARE = "eq ne lt le gt ge isnan isinf isfinite logical_not"
SPATIAL = (
    "max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d "
    "adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d "
    "adaptive_max_pool3d lp_pool1d lp_pool2d lp_pool3d interpolate upsample"
)
REDUCE = "mean sum amax amin std var norm logsumexp prod max min median any all"
ALONG = "softmax log_softmax normalize softmin"
RESHAPE = "view reshape flatten unflatten squeeze unsqueeze view_as reshape_as"
PERMUTE = "permute transpose movedim swapaxes swapdims moveaxis"

REASONS: dict[str, str] = {
    "pixel_shuffle": "it turns channels into pixels in an order that no turn of the picture keeps",
    "pixel_unshuffle": "it turns pixels into channels in an order no turn of the picture keeps",
    "scaled_dot_product_attention": "attention is not supported",
    "multi_head_attention_forward": "attention is not supported",
    "matmul": "a product of tensors mixes channels or pixels (attention?)",
    "bmm": "a product of tensors mixes channels or pixels (attention?)",
    "einsum": "a product of tensors mixes channels or pixels (attention?)",
    "roll": "a shift along an axis has no place in a turned picture",
    "grid_sample": "it interpolates at fixed places",
    "stack": "it makes a new dimension; add the tensors, or put their channels side by side with "
    "torch.cat",
    "randn_like": "random numbers do not turn with the picture",
    "rand_like": "random numbers do not turn with the picture",
    "bernoulli": "random numbers do not turn with the picture",
    "local_response_norm": "it mixes neighbouring channels, which breaks fields",
}
WEIGHTED = "conv linear batch_norm layer_norm group_norm instance_norm prelu bilinear embedding"


# pairs that commute with sign changes: of two tensors, and of a tensor and a number
LINEAR = ("add", "sub", "iadd", "isub", "radd", "subtract", "rsub")
SCALING = ("mul", "multiply", "div", "divide", "true_divide", "imul", "rmul", "truediv")

# names that torch calls some of these by, below its own interface
ALIASES = {
    "log_sigmoid": "logsigmoid",
    "max_pool1d_with_indices": "max_pool1d",
    "max_pool2d_with_indices": "max_pool2d",
    "max_pool3d_with_indices": "max_pool3d",
}
