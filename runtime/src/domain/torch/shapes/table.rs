//! Which rule says what an operation gives: a row for each.
use super::arguments::Call;
use super::dtype::Dtype;
use super::result::Answered;
use super::rules::pointwise::{self, To};
use super::rules::reductions::{self, Sum};
use super::rules::{
    attention, casts, einsum, factories, images, in_place, indexing, joins, losses, norms, parts, products, randoms,
    recurrent, views, windows,
};
use super::size::Size;

/// A row.
#[derive(Debug)]
pub struct Row<S: Size> {
    /// What the operation is called: by function, method or operator.
    pub names: &'static str,
    /// Its parameters, as `Signature` reads them.
    pub parameters: &'static str,
    /// What it gives.
    pub rule: fn(&Call<S>) -> Answered<S>,
}

const fn row<S: Size>(names: &'static str, parameters: &'static str, rule: fn(&Call<S>) -> Answered<S>) -> Row<S> {
    Row { names, parameters, rule }
}

const WINDOW: &str = "window_length, periodic, *, dtype, device, requires_grad, layout, pin_memory";
const MADE: &str = "...size, *, dtype, device, requires_grad, layout, pin_memory";
const LIKE: &str = "self, *, dtype, device, requires_grad, memory_format, layout, pin_memory";
const CAST: &str = "self, memory_format";
const CONVOLUTION: &str = "input, weight, bias, stride, padding, dilation, groups";
const TRANSPOSED: &str = "input, weight, bias, stride, padding, output_padding, groups, dilation";
const MAX_POOL: &str = "self, kernel_size, stride, padding, dilation, ceil_mode";
const NEAREST: &str = "input, output_size, scale_factors";
const SMOOTH: &str = "input, output_size, align_corners, scale_factors";
const AVG_POOL: &str = "self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override";
const SUM: &str = "self, dim, keepdim, *, dtype";
const SPREAD: &str = "self, dim, unbiased, keepdim, *, correction";

const ENCODER_LAYER: &str = "src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu, norm_first, eps, \
    norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask, mask_type";
const RECURRENT: &str = "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first";

/// All rows, for sizes of one kind.
#[derive(Debug)]
pub struct Table<S>(std::marker::PhantomData<S>);

impl<S: Size> Table<S> {
    /// Each name stands once. A name that ends with an underscore has a row only if nothing of the name without one fits it.
    pub const ROWS: &'static [Row<S>] = &[
        // Element by element, one operand.
        row("abs absolute neg negative relu round floor ceil trunc", "self", |c| pointwise::unary(c, To::Number)),
        row("positive pos", "self", casts::positive),
        row("cpu", "self", casts::cpu),
        row("sign sgn", "self", |c| pointwise::unary(c, To::Same)),
        row("frac log_sigmoid mish silu hardswish hardsigmoid selu", "self", |c| pointwise::unary(c, To::FloatOnly)),
        row(
            "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan arcsin arccos arctan sinh cosh tanh asinh acosh atanh \
             sqrt rsqrt sigmoid erf erfc erfinv reciprocal lgamma digamma special_erf special_erfc special_expit special_log1p \
             special_expm1 special_exp2",
            "self",
            |c| pointwise::unary(c, To::Float),
        ),
        row("bitwise_not invert __invert__", "self", |c| pointwise::unary(c, To::WholeOnly)),
        row("logical_not isnan isinf isposinf isneginf signbit", "self", |c| pointwise::unary(c, To::Bool)),
        row("gelu", "self, *, approximate", pointwise::gelu),
        row("leaky_relu celu elu", "self, alpha, scale, input_scale", |c| pointwise::with_numbers(c, To::FloatOnly)),
        row("softplus", "self, beta, threshold", |c| pointwise::with_numbers(c, To::FloatOnly)),
        row("hardtanh", "self, min_val, max_val", pointwise::in_a_copy),
        row("relu6", "self", pointwise::in_a_copy),
        row("nan_to_num", "self, nan, posinf, neginf", casts::nan_to_num),
        row("clamp clip", "self, min, max", pointwise::clamp),
        row("clamp_min clamp_max", "self, min", pointwise::clamp),
        row("dropout", "self, p, train", casts::dropout),
        row("feature_dropout alpha_dropout feature_alpha_dropout", "self, p, train", casts::other_dropout),
        // Element by element, several operands.
        row("add __add__ __radd__", "self, other, *, alpha", |c| pointwise::with_alpha(c, To::Same)),
        row("sub subtract __sub__", "self, other, *, alpha", pointwise::subtract),
        row("rsub", "self, other, *, alpha", pointwise::subtract_from),
        row("mul multiply __mul__ __rmul__", "self, other", |c| pointwise::binary(c, To::Same)),
        row("div divide __truediv__ __div__", "self, other, *, rounding_mode", pointwise::divide),
        row("true_divide", "self, other", pointwise::divide),
        row("floor_divide __floordiv__ remainder __mod__ fmod", "self, other", |c| pointwise::binary(c, To::Number)),
        row("pow __pow__", "self, exponent", pointwise::power),
        row("maximum minimum fmax fmin", "self, other", |c| pointwise::binary_tensors(c, To::Same)),
        row("atan2 arctan2", "self, other", |c| pointwise::binary_tensors(c, To::Float)),
        row("eq ne lt le gt ge less less_equal greater greater_equal not_equal", "self, other", |c| {
            pointwise::binary(c, To::Bool)
        }),
        row("logical_and logical_or logical_xor", "self, other", |c| pointwise::binary_tensors(c, To::Bool)),
        row("bitwise_and bitwise_or bitwise_xor __and__ __or__ __xor__", "self, other", |c| {
            pointwise::binary(c, To::WholeOnly)
        }),
        row("where", "condition, self, other", pointwise::choose),
        row("masked_fill", "self, mask, value", pointwise::masked_fill),
        row("lerp", "self, end, weight", |c| pointwise::ternary(c, To::FloatOnly)),
        row("addcmul", "self, tensor1, tensor2, *, value", |c| pointwise::ternary(c, To::FloatOnly)),
        row("addcdiv", "self, tensor1, tensor2, *, value", |c| pointwise::ternary(c, To::FloatOnly)),
        // Casts and copies.
        row("float", CAST, |c| casts::to_dtype(c, Dtype::F32)),
        row("double", CAST, |c| casts::to_dtype(c, Dtype::F64)),
        row("half", CAST, |c| casts::to_dtype(c, Dtype::F16)),
        row("bfloat16", CAST, |c| casts::to_dtype(c, Dtype::BF16)),
        row("bool", CAST, |c| casts::to_dtype(c, Dtype::Bool)),
        row("int", CAST, |c| casts::to_dtype(c, Dtype::I32)),
        row("long", CAST, |c| casts::to_dtype(c, Dtype::I64)),
        row("short", CAST, |c| casts::to_dtype(c, Dtype::I16)),
        row("char", CAST, |c| casts::to_dtype(c, Dtype::I8)),
        row("byte", CAST, |c| casts::to_dtype(c, Dtype::U8)),
        row("to", "self, first, second, third, fourth, non_blocking, copy, dtype, device, memory_format", casts::to),
        row("type", "self, dtype", casts::to_type),
        row("type_as", "self, other", casts::type_as),
        row("contiguous", "self, memory_format", casts::contiguous),
        row("clone", "self, *, memory_format", casts::clone),
        row("detach", "self", casts::detach),
        // Reductions.
        row("sum nansum", SUM, |c| reductions::reduce(c, Sum::Wide)),
        row("mean nanmean", SUM, |c| reductions::reduce(c, Sum::Float)),
        row("prod", SUM, reductions::prod),
        row("amax amin", "self, dim, keepdim", |c| reductions::reduce_some(c, Sum::Same)),
        row("logsumexp", "self, dim, keepdim", |c| reductions::reduce_some(c, Sum::Float)),
        row("any all", "self, dim, keepdim", |c| reductions::reduce(c, Sum::Bool)),
        row("argmax argmin", "self, dim, keepdim", reductions::arg),
        row("max", "self, dim, keepdim", |c| reductions::extreme(c, "max")),
        row("min", "self, dim, keepdim", |c| reductions::extreme(c, "min")),
        row("std var", SPREAD, reductions::spread),
        row("norm", "self, p, dim, keepdim", reductions::norm),
        row("linalg_vector_norm", "self, ord, dim, keepdim, *, dtype", reductions::vector_norm),
        row("linalg_norm", "self, ord, dim, keepdim, *, dtype", reductions::any_norm),
        row("median", "self, dim, keepdim", reductions::median),
        row("sort", "self, dim, descending", reductions::sort),
        row("argsort", "self, dim, descending", reductions::argsort),
        row("softmax log_softmax", "self, dim, dtype", reductions::softmax),
        row("cumsum cumprod", "self, dim, *, dtype", reductions::cumulate),
        row("topk", "self, k, dim, largest, sorted", reductions::topk),
        // Products.
        row("mm", "self, mat2", products::mm),
        row("bmm", "self, mat2", products::bmm),
        row("matmul __matmul__", "self, other", products::matmul),
        row("linear", "input, weight, bias", products::linear),
        row("outer ger", "self, vec2", products::outer),
        row("cdist", "x1, x2, p, compute_mode", products::cdist),
        row("einsum", "equation, operands", einsum::einsum),
        row("addmm", "self, mat1, mat2, *, beta, alpha", |c| products::added(c, 2)),
        row("baddbmm", "self, batch1, batch2, *, beta, alpha", |c| products::added(c, 3)),
        row(
            "scaled_dot_product_attention",
            "query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa",
            attention::attention,
        ),
        row("_transformer_encoder_layer_fwd", ENCODER_LAYER, attention::encoder_layer),
        row("lstm", RECURRENT, |c| recurrent::recurrent(c, 4)),
        row("gru", RECURRENT, |c| recurrent::recurrent(c, 3)),
        row("rnn_tanh rnn_relu", RECURRENT, |c| recurrent::recurrent(c, 1)),
        // Images.
        row("conv1d", CONVOLUTION, |c| images::convolution(c, 1)),
        row("conv2d", CONVOLUTION, |c| images::convolution(c, 2)),
        row("conv3d", CONVOLUTION, |c| images::convolution(c, 3)),
        row("conv_transpose1d", TRANSPOSED, |c| images::transposed_convolution(c, 1)),
        row("conv_transpose2d", TRANSPOSED, |c| images::transposed_convolution(c, 2)),
        row("conv_transpose3d", TRANSPOSED, |c| images::transposed_convolution(c, 3)),
        row("max_pool1d", MAX_POOL, |c| images::max_pool(c, 1)),
        row("max_pool2d", MAX_POOL, |c| images::max_pool(c, 2)),
        row("max_pool3d", MAX_POOL, |c| images::max_pool(c, 3)),
        row("avg_pool1d", AVG_POOL, |c| images::avg_pool(c, 1)),
        row("avg_pool2d", AVG_POOL, |c| images::avg_pool(c, 2)),
        row("avg_pool3d", AVG_POOL, |c| images::avg_pool(c, 3)),
        row("adaptive_avg_pool1d", "self, output_size", |c| images::adaptive_avg_pool(c, 1)),
        row("adaptive_avg_pool2d", "self, output_size", |c| images::adaptive_avg_pool(c, 2)),
        row("adaptive_avg_pool3d", "self, output_size", |c| images::adaptive_avg_pool(c, 3)),
        row("adaptive_max_pool2d", "self, output_size", |c| images::adaptive_max_pool(c, 2)),
        row("upsample_nearest1d _upsample_nearest_exact1d", NEAREST, |c| images::upsample(c, 1, 2)),
        row("upsample_nearest2d _upsample_nearest_exact2d", NEAREST, |c| images::upsample(c, 2, 2)),
        row("upsample_nearest3d _upsample_nearest_exact3d", NEAREST, |c| images::upsample(c, 3, 2)),
        row("upsample_linear1d", SMOOTH, |c| images::upsample(c, 1, 3)),
        row("upsample_bilinear2d upsample_bicubic2d _upsample_bilinear2d_aa _upsample_bicubic2d_aa", SMOOTH, |c| {
            images::upsample(c, 2, 3)
        }),
        row("upsample_trilinear3d", SMOOTH, |c| images::upsample(c, 3, 3)),
        row("pad", "input, pad, mode, value", images::pad),
        row("constant_pad_nd", "input, pad, value", images::constant_pad),
        row("pixel_shuffle", "self, upscale_factor", images::pixel_shuffle),
        row("pixel_unshuffle", "self, downscale_factor", windows::pixel_unshuffle),
        row("im2col", "self, kernel_size, dilation, padding, stride", windows::columns),
        row("col2im", "self, output_size, kernel_size, dilation, padding, stride", windows::from_columns),
        row("grid_sampler", "input, grid, interpolation_mode, padding_mode, align_corners", windows::grid_sampler),
        row("affine_grid_generator", "theta, size, align_corners", windows::affine_grid),
        // Normalisation.
        row(
            "batch_norm",
            "input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled",
            norms::batch_norm,
        ),
        row("layer_norm", "input, normalized_shape, weight, bias, eps, cudnn_enable", norms::layer_norm),
        row("rms_norm", "input, normalized_shape, weight, eps", norms::rms_norm),
        row("group_norm", "input, num_groups, weight, bias, eps, cudnn_enabled", norms::group_norm),
        // Losses.
        row(
            "cross_entropy_loss",
            "input, target, weight, reduction, ignore_index, label_smoothing",
            losses::of_classes,
        ),
        row("nll_loss_nd", "input, target, weight, reduction, ignore_index", losses::of_classes),
        row("one_hot", "self, num_classes", losses::one_hot),
        row("glu", "self, dim", losses::glu),
        row("mse_loss l1_loss", "self, target, reduction", losses::of_differences),
        row("smooth_l1_loss huber_loss", "self, target, reduction, bound", losses::of_differences),
        row("binary_cross_entropy_with_logits", "self, target, weight, pos_weight, reduction", |c| {
            losses::of_chances(c, 4)
        }),
        row("kl_div", "self, target, reduction, *, log_target", losses::kl_div),
        row("cosine_similarity", "x1, x2, dim, eps", losses::cosine_similarity),
        // Views.
        row("view", "self, ...size", views::as_shape),
        row("reshape", "self, ...shape", views::reshape),
        row("view_as", "self, other", |c| views::like(c, true)),
        row("reshape_as", "self, other", |c| views::like(c, false)),
        row("flatten", "self, start_dim, end_dim", views::flatten),
        row("ravel", "self", views::ravel),
        row("unflatten", "self, dim, sizes", views::unflatten),
        row("permute", "self, ...dims", views::permute),
        row("transpose swapaxes swapdims", "self, dim0, dim1", views::transpose),
        row("t T", "self", views::t),
        row("mT", "self", views::matrix_t),
        row("movedim moveaxis", "self, source, destination", views::movedim),
        row("expand", "self, ...size, *, implicit", views::expand),
        row("broadcast_to", "self, ...size", views::broadcast_to),
        row("diagonal", "self, offset, dim1, dim2", parts::diagonal),
        row("unfold", "self, dimension, size, step", parts::unfold),
        row("as_strided", "self, size, stride, storage_offset", parts::as_strided),
        row("atleast_1d", "self", |c| parts::at_least(c, 1)),
        row("atleast_2d", "self", |c| parts::at_least(c, 2)),
        row("meshgrid", "tensors, *, indexing", parts::meshgrid),
        row("tensor_split", "self, sections, dim", parts::tensor_split),
        row("broadcast_tensors", "tensors", views::broadcast_tensors),
        row("expand_as", "self, other", views::expand_as),
        row("unsqueeze", "self, dim", views::unsqueeze),
        row("squeeze", "self, dim", views::squeeze),
        row("select", "self, dim, index", views::select),
        row("narrow", "self, dim, start, length", views::narrow),
        row("unbind", "self, dim", views::unbind),
        row("split", "self, split_size, dim", views::split),
        row("split_with_sizes", "self, split_sizes, dim", views::split),
        row("chunk", "self, chunks, dim", views::chunk),
        // Items and indices.
        row("getitem __getitem__", "self, index", indexing::getitem),
        row("setitem __setitem__", "self, index, value", indexing::setitem),
        row("index_select", "self, dim, index", indexing::index_select),
        row("gather", "self, dim, index", indexing::gather),
        row("scatter", "self, dim, index, src", indexing::scatter),
        row("scatter_add", "self, dim, index, src", indexing::scatter_add),
        row("index_add", "self, dim, index, source, *, alpha", indexing::index_add),
        row("searchsorted", "sorted_sequence, self, out_int32, right, side, sorter", |c| indexing::places(c, 0)),
        row("bucketize", "self, boundaries, out_int32, right", |c| indexing::places(c, 1)),
        row("embedding", "weight, input, padding_idx, scale_grad_by_freq, sparse", indexing::embedding),
        // Several, and repetitions.
        row("cat concat concatenate", "tensors, dim", joins::cat),
        row("stack", "tensors, dim", joins::stack),
        row("hstack", "tensors", joins::side_by_side),
        row("vstack row_stack", "tensors", joins::one_below_another),
        row("dstack", "tensors", joins::one_behind_another),
        row("column_stack", "tensors", joins::columns),
        row("diff", "self, n, dim, prepend, append", joins::diff),
        row("repeat", "self, ...repeats", joins::repeat),
        row("tile", "self, ...dims", joins::tile),
        row("diag", "self, diagonal", parts::diag),
        row("repeat_interleave", "self, repeats, dim, *, output_size", joins::repeat_interleave),
        row("flip", "self, ...dims", joins::flip),
        row("roll", "self, shifts, dims", joins::roll),
        row("tril triu", "self, diagonal", joins::triangle),
        // Tensors of numbers.
        row("zeros ones empty", MADE, factories::sized),
        row("rand randn", MADE, factories::random),
        row("randperm", "n, *, dtype, device, requires_grad, layout, pin_memory", randoms::randperm),
        row("randint", "low, high, size, *, dtype, device, requires_grad, layout, pin_memory", randoms::randint),
        row("bernoulli", "self, p, *, generator", randoms::bernoulli),
        row("full", "size, fill_value, *, dtype, device, requires_grad", factories::full),
        row("zeros_like ones_like empty_like", LIKE, factories::like),
        row("rand_like randn_like", LIKE, factories::random_like),
        row("full_like", "self, fill_value, *, dtype, device, requires_grad, memory_format", factories::full_like),
        row("new_zeros new_ones new_empty", "self, ...size, *, dtype, device, requires_grad", factories::new),
        row("new_full", "self, size, fill_value, *, dtype, device, requires_grad", factories::new_full),
        row("eye", "n, m, *, dtype, device, requires_grad", factories::eye),
        row("arange", "start, end, step, *, dtype, device, requires_grad", factories::arange),
        row("linspace", "start, end, steps, *, dtype, device, requires_grad", |c| factories::linspace(c, 3)),
        row("logspace", "start, end, steps, base, *, dtype, device, requires_grad", |c| factories::linspace(c, 4)),
        row("hann_window bartlett_window blackman_window", WINDOW, |c| factories::window(c, 0)),
        row("fft_fftfreq", "n, d, *, dtype, device, requires_grad", |c| factories::frequencies(c, true)),
        row("fft_rfftfreq", "n, d, *, dtype, device, requires_grad", |c| factories::frequencies(c, false)),
        row("tensor", "data, *, dtype, device, requires_grad", factories::tensor),
        row("new_tensor", "self, data, *, dtype, device, requires_grad", |c| factories::numbers(c, 1)),
        row("as_tensor", "data, dtype, device", |c| factories::numbers(c, 0)),
        // In place alone.
        row("copy_", "self, src, non_blocking", in_place::copy),
        row("fill_", "self, value", in_place::fill),
        row("bernoulli_", "self, p, *, generator", in_place::bernoulli),
        row("exponential_", "self, lambd, *, generator", |c| in_place::random(c, &[1.0], |given| given[0] > 0.0)),
        row("uniform_", "self, from, to, *, generator", |c| {
            in_place::random(c, &[0.0, 1.0], |given| given[0] <= given[1] && given[1] - given[0] < 1e9)
        }),
        row("normal_", "self, mean, std, *, generator", |c| in_place::random(c, &[0.0, 1.0], |given| given[1] >= 0.0)),
        row("zero_", "self", in_place::zero),
    ];
}
