// get_block: a block by its name.
#include "tilewright/schedule/core/primitive.h"
#include "tilewright/schedule/core/report.h"
#include "tilewright/support/near.h"

namespace tilewright::schedule {
namespace {

struct Args {
  std::string name;
  std::optional<std::string> func_name;
  static constexpr std::string_view kRequired[] = {"name"};
  static constexpr auto fields() {
    return std::tuple{
        field<&Args::name>("name", "the block's name"),
        field<&Args::func_name>(
            "func_name", "the function it is in; may be left out when only one function has such a block")};
  }
};

template <class Visit>
void for_each_block(const State& state, NodeId id, const Visit& visit) {
  const TreeNode& node = state.node(id);
  if (!node.is_loop()) visit(id, node.name);
  for (NodeId child : node.children) for_each_block(state, child, visit);
}

[[noreturn]] void fail_unknown(const State& state, const std::vector<const State::Func*>& funcs,
                               const std::string& place, const std::string& wanted) {
  std::vector<std::string_view> names;
  for (const State::Func* func : funcs)
    for_each_block(state, func->root, [&](NodeId, const std::string& name) { names.push_back(name); });
  throw UserError("{} has no block \"{}\"", place, wanted).help("{}", nearest_names_text(wanted, names));
}

const State::Func& require_func(const State& state, const std::string& name) {
  std::vector<std::string_view> names;
  for (const State::Func& func : state.funcs()) {
    if (func.name->name_hint == name && func.root != kNoNode) return func;
    if (func.root != kNoNode) names.push_back(func.name->name_hint);
  }
  for (const State::Func& func : state.funcs()) {
    if (func.name->name_hint == name) throw UserError("function \"{}\" has no blocks", name);
  }
  throw UserError("the module has no function \"{}\"", name).help("{}", nearest_names_text(name, names));
}

[[noreturn]] void fail_ambiguous(const State& state, const std::vector<NodeId>& found,
                                 const std::string& place, const Args& args) {
  std::vector<std::string> owners;
  for (NodeId id : found) owners.push_back(state.func_of(id).name->name_hint);
  UserError error = refuse(state, found[0], "{} has {} blocks \"{}\"", place, found.size(), args.name);
  for (size_t n = 1; n < found.size(); ++n)
    error.note(locate(state, found[n]), "another is in function {}", owners[n]);
  if (!args.func_name && owners.front() != owners.back())
    error.help("say which function is meant, e.g. func_name=\"{}\"", owners.front());
  else
    error.help("reach it with get_child_blocks, get_producers or get_consumers");
  throw error;
}

BlockRef apply(State& state, Args& args) {
  if (!args.func_name) args.func_name = state.working_on;
  std::vector<const State::Func*> funcs;
  if (args.func_name)
    funcs.push_back(&require_func(state, *args.func_name));
  else {
    for (const State::Func& func : state.funcs()) {
      if (func.root != kNoNode) funcs.push_back(&func);
    }
  }
  std::vector<NodeId> found;
  for (const State::Func* func : funcs) {
    for_each_block(state, func->root, [&](NodeId id, const std::string& name) {
      if (name == args.name) found.push_back(id);
    });
  }
  if (found.size() == 1) {
    args.func_name = state.func_of(found[0]).name->name_hint;
    return state.new_block_ref(found[0]);
  }
  const std::string place = args.func_name ? fmt::format("function \"{}\"", *args.func_name) : "the module";
  if (found.empty()) fail_unknown(state, funcs, place, args.name);
  fail_ambiguous(state, found, place, args);
}
}  // namespace

extern constinit const PrimitiveInfo get_block_info = query<apply>("get_block", R"(
The block called `name`.

name       the block's name, as written in T.block("...")
func_name  the function it is in; may be left out when no other function has a block of that name
Raises     UserError if there is none (near names are listed) or more than one.
)");
}  // namespace tilewright::schedule
