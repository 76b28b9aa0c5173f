"""tvm.topi under the names and with the arguments of 2018 to 2026."""
