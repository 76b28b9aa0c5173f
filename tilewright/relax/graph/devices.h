// Devices in types: a value may hold several tensors, each of which is on a device of its own.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/relax/graph/relax.h"

namespace tilewright::relax {

/// The tensors that a value of `type` holds, in order: itself, or those in a tuple.
std::vector<const TensorTypeNode*> tensors_in(const Type& type);

/// `type` with tensor n of tensors_in on the device `devices[n]` ("" for none); the same object if all are there.
Type with_devices(const Type& type, const std::vector<std::string>& devices);

/// `type` with tensors that name no device on that of the same tensor of `declared`.
Type with_declared_devices(const Type& type, const Type& declared);

/// `type` with tensors that name no device on `device`.
Type with_default_device(const Type& type, const std::string& device);

/// Calls `visit` for each tensor that `expr` holds; `name` is that of the variable, "" for other expressions.  Constants
/// are left out: they are wherever they are used.
void for_each_tensor(const Expr& expr,
                     const std::function<void(const TensorTypeNode* type, std::string_view name)>& visit);

/// True for the operators whose arguments may be on several devices: those that move tensors, call other functions or
/// print.
bool mixes_devices(std::string_view op_name);

}  // namespace tilewright::relax
