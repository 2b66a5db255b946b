"""Models of torchvision and timm, made without weights from the network, on small images."""

import torch

TORCHVISION = {
    "alexnet": 64,
    "convnext_tiny": 64,
    "densenet121": 64,
    "efficientnet_b0": 64,
    "efficientnet_v2_s": 64,
    "googlenet": 96,
    "inception_v3": 96,
    "maxvit_t": 224,
    "mnasnet0_5": 64,
    "mobilenet_v2": 64,
    "mobilenet_v3_small": 64,
    "regnet_y_400mf": 64,
    "resnet18": 64,
    "resnet50": 64,
    "resnext50_32x4d": 64,
    "shufflenet_v2_x0_5": 64,
    "squeezenet1_1": 64,
    "swin_t": 64,
    "swin_v2_t": 64,
    "vgg11": 64,
    "vit_b_16": 224,
    "segmentation.deeplabv3_mobilenet_v3_large": 64,
    "segmentation.fcn_resnet50": 64,
    "segmentation.lraspp_mobilenet_v3_large": 64,
    "video.r3d_18": 32,
}
TIMM = (
    "bat_resnext26ts beit_base_patch16_224 botnet26t_256 cait_xxs24_224 coat_tiny coatnet_nano_rw_224 convit_tiny "
    "convmixer_768_32 convnext_atto crossvit_9_240 cspresnet50 deit_tiny_patch16_224 dla34 dpn48b edgenext_xx_small "
    "efficientformer_l1 eva02_tiny_patch14_224 fastvit_t8 focalnet_tiny_srf gcresnext26ts ghostnet_050 hardcorenas_a "
    "hrnet_w18_small levit_128s maxvit_nano_rw_256 mixer_s16_224 mobilevit_xxs nfnet_l0 pit_ti_224 poolformer_s12 "
    "pvt_v2_b0 regnetx_002 res2net50_14w_8s repvgg_a0 tinynet_e xcit_nano_12_p16_224"
).split()


def torchvision_model(name):
    import torchvision.models

    found = torchvision.models
    *path, last = name.split(".")
    for part in path:
        found = getattr(found, part)
    options = {"weights": None}
    if path == ["segmentation"]:
        options["weights_backbone"] = None
    elif last in ("googlenet", "inception_v3"):
        options["init_weights"] = False
    return getattr(found, last)(**options).eval()


def image(seed, size, frames=None):
    shape = (2, 3, size, size) if frames is None else (1, 3, frames, size, size)
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def torchvision_models():
    """By name: what makes the model, and its arguments for the n-th call."""
    found = {}
    for name, size in TORCHVISION.items():
        frames = 4 if name.startswith("video.") else None
        found[name] = (lambda n=name: torchvision_model(n)), lambda _model, n, s=size, f=frames: ((image(n, s, f),), {})
    return found


def timm_model(name):
    import timm

    return timm.create_model(name, pretrained=False).eval()


def timm_models():
    """The same for timm; each takes images of the size that it was made for."""

    def arguments(model, seed):
        return (image(seed, model.default_cfg["input_size"][-1])[:1],), {}

    return {name: ((lambda n=name: timm_model(n)), arguments) for name in TIMM}
