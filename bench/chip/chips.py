"""The boards with a CPU and a GPU, and what papers report of them. Pure: standard library only."""

# The machine files of boards/ that describe a GPU, and their names in tables.
kBoards = {
    "exynos-7420": "Exynos 7420", "exynos-7880": "Exynos 7880", "snapdragon-845": "Snapdragon 845", "snapdragon-855": "Snapdragon 855",
    "snapdragon-888": "Snapdragon 888", "kirin-970": "Kirin 970", "kirin-990": "Kirin 990", "raspberry-pi-5": "Raspberry Pi 5",
}
kSnapdragon = ["snapdragon-845", "snapdragon-855", "snapdragon-888"]
kMali = ["exynos-7420", "exynos-7880", "kirin-970", "kirin-990"]

# What a GPU's products are of: the processors of `mete simulate --machine`.
kTypes = {"f32": "cpu,gpu", "f16": "cpu,gpu:f16"}

# muLayer (EuroSys 2019): of its networks those that the zoo has; by how many % a request takes less, as published; and which processor is
# how many times as fast as the other on VGG-16.
kMulayerModels = ["vgg16", "alexnet", "squeezenet1.0", "googlenet", "mobilenet_v1"]
kMulayerSaves = {"exynos-7420": 59.9, "exynos-7880": 69.6}
kMulayerRatio = {"exynos-7420": ("GPU", 1.40), "exynos-7880": ("CPU", 1.261)}

# CoDL (MobiSys 2022): milliseconds that its authors publish with its sources, of networks that the zoo has, and how many times as
# fast as a planner like muLayer's it is.
kCodlMs = {
    "yolov2": {"snapdragon-855": 140, "snapdragon-888": 120, "kirin-990": 155},
    "vgg16": {"snapdragon-855": 137, "snapdragon-888": 108, "kirin-990": 141},
}
kCodlOverMulayer = {"Snapdragon": (kSnapdragon, 3.43), "Mali": (kMali, 1.49)}
