class Sampler:
    pass
