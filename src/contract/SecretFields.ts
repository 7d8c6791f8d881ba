/** Names of the fields that hold secrets, as the bodies of a group's requests mark them (`Schema.Redacted`). */
import * as Option from "effect/Option"
import * as AST from "effect/SchemaAST"
import { madeGroup } from "./GroupContract.ts"

const isRedacted = (ast: AST.AST): boolean =>
  Option.getOrUndefined(AST.getAnnotation<{ readonly _tag: string }>(AST.TypeConstructorAnnotationId)(ast))?._tag ===
  "effect/Redacted"

/** Tells whether a value of the type may be a secret as a whole, or hold some under names of the caller's. */
const holdsSecret = (ast: AST.AST): boolean => {
  switch (ast._tag) {
    case "Union":
      return ast.types.some(holdsSecret)
    case "Refinement":
      return holdsSecret(ast.from)
    case "Transformation":
      return isRedacted(ast.to) || holdsSecret(ast.to)
    case "TupleType":
      return [...ast.elements, ...ast.rest].some(({ type }) => holdsSecret(type))
    case "TypeLiteral":
      return ast.indexSignatures.some(({ type }) => holdsSecret(type))
    default:
      return isRedacted(ast)
  }
}

const collect = (ast: AST.AST, into: Set<string>, open: ReadonlyArray<AST.AST>): void => {
  if (open.includes(ast)) return
  const inner = (next: AST.AST): void => collect(next, into, [...open, ast])
  switch (ast._tag) {
    case "TypeLiteral":
      for (const { name, type } of ast.propertySignatures) {
        if (holdsSecret(type)) into.add(String(name))
        inner(type)
      }
      for (const { type } of ast.indexSignatures) inner(type)
      return
    case "Union":
      return ast.types.forEach(inner)
    case "Refinement":
      return inner(ast.from)
    case "Transformation":
      inner(ast.from)
      return inner(ast.to)
    case "TupleType":
      return [...ast.elements, ...ast.rest].forEach(({ type }) => inner(type))
    case "Suspend":
      return inner(ast.f())
    default:
      return
  }
}

const known = new Map<string, ReadonlySet<string>>()

/** Names of a group whose contract was made. */
export const secretFieldsOf = (group: string): ReadonlySet<string> => {
  const found = known.get(group)
  if (found !== undefined) return found
  const names = new Set<string>()
  for (const { payloadSchema } of Object.values(madeGroup(group)?.endpoints ?? {})) {
    if (Option.isSome(payloadSchema)) collect(payloadSchema.value.ast, names, [])
  }
  known.set(group, names)
  return names
}
