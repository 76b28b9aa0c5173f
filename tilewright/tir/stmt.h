// Statements by kind and by parts, from the list of kinds (ir/nodes.inc) and the field tables (tir.h), so that a
// new statement is seen by every walk that names no kinds.
//   by_kind(stmt, [&](const ForNode* loop) { ... }, [&](const auto* other) { ... });
//   for_each_part(stmt, [&](const PrimExpr& expr) { ... }, [&](const Stmt& inner) { ... });
//   stmt = with_inner(stmt, [&](const Stmt& inner) { return changed(inner); });
// Parts are the expressions and statements that a statement is made of itself, in field order, which is the
// order in which they are computed. Null parts are passed over; variables that it defines, buffers with their
// shapes, regions, axes and attributes are no parts.  ir/walk.h and ir/rewrite.h go through whole programs.
#pragma once
#include "tilewright/ir/field.h"
#include "tilewright/tir/builder.h"

namespace tilewright::tir {
namespace stmt_detail {

template <class... Fs>
struct Cases : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Cases(Fs...) -> Cases<Fs...>;

template <class T>
struct ItemOf {
  using Type = T;
};
template <class T>
struct ItemOf<std::vector<T>> {
  using Type = T;
};
template <class T>
struct NodeOf {
  using Type = void;
};
template <class T>
struct NodeOf<Ref<T>> {
  using Type = T;
};
/// True for Ref<N> and std::vector<Ref<N>> where N is-a Base.
template <class Base, class T>
constexpr bool kHolds = std::is_base_of_v<Base, typename NodeOf<typename ItemOf<T>::Type>::Type>;

/// Calls visit(member) for each field that holds parts.
template <class N, class Visit>
void for_each_field(Visit&& visit) {
  const auto each = [&]<size_t kIndex>() {
    constexpr auto kField = std::get<kIndex>(N::fields());
    using T = std::remove_cvref_t<decltype(std::declval<N>().*kField.member)>;
    if constexpr (kField.role == Role::kUse && (kHolds<PrimExprNode, T> || kHolds<StmtNode, T>))
      visit(kField.member);
  };
  [&]<size_t... kIndices>(std::index_sequence<kIndices...>) {
    (each.template operator()<kIndices>(), ...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(N::fields())>>());
}

/// For the parts that a caller does not ask for.
struct Nothing {};

template <class T, class OnExpr, class OnStmt>
void visit_part(const Ref<T>& part, OnExpr& on_expr, OnStmt& on_stmt) {
  if (!part) return;
  if constexpr (!std::is_base_of_v<StmtNode, T>) {
    if constexpr (!std::is_same_v<std::remove_cv_t<OnExpr>, Nothing>) on_expr(part);
  } else if constexpr (!std::is_same_v<std::remove_cv_t<OnStmt>, Nothing>) {
    on_stmt(part);
  }
}
template <class T, class OnExpr, class OnStmt>
void visit_part(const std::vector<T>& parts, OnExpr& on_expr, OnStmt& on_stmt) {
  for (const T& part : parts) visit_part(part, on_expr, on_stmt);
}

/// Puts in place of `*part` what the caller makes of it; true if that is another object.
template <class T, class NewExpr, class NewStmt>
bool change_part(Ref<T>* part, NewExpr& new_expr, NewStmt& new_stmt) {
  if (!*part) return false;
  ObjectRef now = *part;
  if constexpr (!std::is_base_of_v<StmtNode, T>) {
    if constexpr (!std::is_same_v<std::remove_cv_t<NewExpr>, Nothing>) now = new_expr(*part);
  } else if constexpr (!std::is_same_v<std::remove_cv_t<NewStmt>, Nothing>) {
    now = new_stmt(*part);
  }
  if (now == ObjectRef(*part)) return false;
  TILEWRIGHT_CHECK(!now || is<T>(now), "a {} cannot stand here", info_of(*now)->name);
  *part = ref_as<T>(now);
  return true;
}
template <class T, class NewExpr, class NewStmt>
bool change_part(std::vector<T>* parts, NewExpr& new_expr, NewStmt& new_stmt) {
  bool is_changed = false;
  for (T& part : *parts) is_changed |= change_part(&part, new_expr, new_stmt);
  return is_changed;
}

}  // namespace stmt_detail

/// Runs the case that takes this kind of statement, and returns what it returns.  Each kind needs one, else it
/// does not compile; `const auto*` takes those that no other case takes.  Raises UserError for null, as a
/// program put together from nodes may have it.
template <class... Fs>
auto by_kind(const StmtNode* stmt, Fs... cases) {
  if (!stmt) throw UserError("a statement is missing").help("give each loop, branch and block a body");
  stmt_detail::Cases all{std::move(cases)...};
  using Result = decltype(all(static_cast<const ForNode*>(nullptr)));
  switch (stmt->kind) {
#define STMT(Name) \
  case Kind::k##Name: return static_cast<Result>(all(static_cast<const Name##Node*>(stmt)));
#include "tilewright/ir/nodes.inc"
    default: throw InternalError("a {} is no statement", info_of(*stmt)->name);
  }
}
template <class... Fs>
auto by_kind(const Stmt& stmt, Fs... cases) {
  return by_kind(stmt.get(), std::move(cases)...);
}

/// Calls on_expr or on_stmt for each part; null has none.
template <class OnExpr, class OnStmt>
void for_each_part(const Stmt& stmt, OnExpr&& on_expr, OnStmt&& on_stmt) {
  if (!stmt) return;
  by_kind(stmt, [&]<class N>(const N* node) {
    stmt_detail::for_each_field<N>(
        [&](auto member) { stmt_detail::visit_part(node->*member, on_expr, on_stmt); });
  });
}
/// Calls on_stmt for each statement directly in `stmt`.
template <class OnStmt>
void for_each_inner(const Stmt& stmt, OnStmt&& on_stmt) {
  for_each_part(stmt, stmt_detail::Nothing{}, on_stmt);
}

/// `stmt` with new_expr(part) or new_stmt(part) in place of each part: the same object if all are the same.  A
/// sequence is flat again: without null parts and what does nothing, it may become another statement.
template <class NewExpr, class NewStmt>
Stmt with_parts(const Stmt& stmt, NewExpr&& new_expr, NewStmt&& new_stmt) {
  if (!stmt) return stmt;
  return by_kind(stmt, [&]<class N>(const N* node) -> Stmt {
    if constexpr (std::is_same_v<N, SeqStmtNode>) {
      std::vector<Stmt> items = node->seq;
      return stmt_detail::change_part(&items, new_expr, new_stmt) ? seq(std::move(items)) : stmt;
    } else {
      std::unique_ptr<N> copy;
      stmt_detail::for_each_field<N>([&](auto member) {
        auto part = node->*member;
        if (!stmt_detail::change_part(&part, new_expr, new_stmt)) return;
        if (!copy) copy = std::make_unique<N>(*node);
        copy.get()->*member = std::move(part);
      });
      if (!copy) return stmt;
      if constexpr (requires { copy->verify(); }) copy->verify();
      return Stmt(copy.release());
    }
  });
}
/// `stmt` with new_stmt(inner) in place of each statement directly in it.
template <class NewStmt>
Stmt with_inner(const Stmt& stmt, NewStmt&& new_stmt) {
  return with_parts(stmt, stmt_detail::Nothing{}, new_stmt);
}

/// How often a statement, each time that it runs, runs the statements in it, as one thread sees it.
enum class Runs : uint8_t {
  kOnce,     // each of them, in order; also where there are none
  kPerhaps,  // once or not at all
  kCounted,  // as often as an extent says
  kOpen,     // nobody knows
};
inline Runs runs_inner(const StmtNode* stmt) {
  return by_kind(
      stmt, [](const ForNode*) { return Runs::kCounted; }, [](const WhileNode*) { return Runs::kOpen; },
      [](const IfThenElseNode*) { return Runs::kPerhaps; },
      [](const BlockRealizeNode*) { return Runs::kPerhaps; },  // where its predicate holds
      [](const BlockNode*) { return Runs::kPerhaps; },         // its init
      [](const SeqStmtNode*) { return Runs::kOnce; }, [](const LetStmtNode*) { return Runs::kOnce; },
      [](const AttrStmtNode*) { return Runs::kOnce; }, [](const AllocBufferNode*) { return Runs::kOnce; },
      [](const DeclBufferNode*) { return Runs::kOnce; }, [](const BufferStoreNode*) { return Runs::kOnce; },
      [](const EvaluateNode*) { return Runs::kOnce; }, [](const AssertStmtNode*) { return Runs::kOnce; });
}
inline Runs runs_inner(const Stmt& stmt) { return runs_inner(stmt.get()); }

}  // namespace tilewright::tir
