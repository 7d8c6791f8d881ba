/**
 * Fields of answers that change by themselves: states, counts, times of use. They are no part of what an editor changes, so the entity tag of an
 * object does not depend on them. Marked where the field is described, and read from the schema of the answer.
 */
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { type Documented, field } from "./Documented.ts"

const observedId: unique symbol = Symbol.for("gateway/contract/Observed") as never

/** A described field of an answer that the gateway observes, and no editor changes. */
export const observed = <S extends Schema.Schema.All | Schema.PropertySignature.All>(
  signature: S,
  description: string,
  ...examples: ReadonlyArray<unknown>
): Documented<S> => {
  const described = field(signature, description, ...examples) as Schema.propertySignature<Schema.Schema.Any>
  return described.annotations({ [observedId]: true }) as unknown as Documented<S>
}

/** The observed fields of a value: true for one as a whole, else what is observed within it. `*` is each entry. */
export interface ObservedFields {
  readonly [name: string]: true | ObservedFields
}

const each = "*"

const none: ObservedFields = {}

const merged = (left: ObservedFields, right: ObservedFields): ObservedFields => {
  const all: Record<string, true | ObservedFields> = { ...left }
  for (const [name, mark] of Object.entries(right)) {
    const known = all[name]
    all[name] = known === true || mark === true ? true : known === undefined ? mark : merged(known, mark)
  }
  return all
}

const isMarked = (annotated: AST.Annotated): boolean =>
  Option.getOrElse(AST.getAnnotation<boolean>(observedId)(annotated), () => false)

const within = (name: string, fields: ObservedFields): ObservedFields =>
  Object.keys(fields).length === 0 ? none : { [name]: fields }

const fieldsOf = (ast: AST.AST, open: ReadonlyArray<AST.AST>): ObservedFields => {
  if (open.includes(ast)) return none
  const inner = (next: AST.AST): ObservedFields => fieldsOf(next, [...open, ast])
  switch (ast._tag) {
    case "TypeLiteral":
      return [
        ...ast.propertySignatures.map((property) =>
          isMarked(property)
            ? ({ [String(property.name)]: true } as const)
            : within(String(property.name), inner(property.type))
        ),
        ...ast.indexSignatures.map(({ type }) => within(each, inner(type)))
      ].reduce<ObservedFields>(merged, none)
    case "TupleType":
      return within(
        each,
        [...ast.elements, ...ast.rest].map(({ type }) => inner(type)).reduce<ObservedFields>(merged, none)
      )
    case "Union":
      return ast.types.map(inner).reduce<ObservedFields>(merged, none)
    case "Refinement":
      return inner(ast.from)
    case "Suspend":
      return inner(ast.f())
    case "Transformation": {
      const marked =
        ast.transformation._tag === "TypeLiteralTransformation"
          ? ast.transformation.propertySignatureTransformations.filter(
              ({ to }) =>
                ast.to._tag === "TypeLiteral" && ast.to.propertySignatures.some((p) => p.name === to && isMarked(p))
            )
          : []
      return [inner(ast.from), ...marked.map(({ from }) => ({ [String(from)]: true }) as const)].reduce<ObservedFields>(
        merged,
        none
      )
    }
    default:
      return none
  }
}

/** Finds the observed fields of a schema's values. */
export const observedFields = (schema: Schema.Schema.All): ObservedFields => fieldsOf(schema.ast, [])

/** The same JSON value without its observed fields. */
export const withoutObserved = (value: unknown, fields: ObservedFields): unknown => {
  if (typeof value !== "object" || value === null) return value
  const marks = (name: string): true | ObservedFields | undefined =>
    Object.hasOwn(fields, name) ? fields[name] : fields[each]
  if (Array.isArray(value)) {
    const mark = fields[each]
    return mark === undefined || mark === true ? value : value.map((entry) => withoutObserved(entry, mark))
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const mark = marks(name)
      if (mark === true) return []
      return [[name, mark === undefined ? member : withoutObserved(member, mark)] as const]
    })
  )
}

/**
 * The parts of a JSON value without its observed fields, which together say all of it: each entry of the lists at its top, and each of its other members
 * with its name. They are made one after the other, so that a list of thousands need not be written in one piece.
 */
export function* partsWithoutObserved(value: unknown, fields: ObservedFields): Generator<unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return yield withoutObserved(value, fields)
  for (const [name, member] of Object.entries(value)) {
    const mark = Object.hasOwn(fields, name) ? fields[name] : fields[each]
    if (mark === true) continue
    if (!Array.isArray(member)) {
      yield [name, mark === undefined ? member : withoutObserved(member, mark)]
      continue
    }
    const entryMark = mark?.[each]
    yield [name, member.length]
    for (const entry of member) {
      yield entryMark === undefined || entryMark === true ? entry : withoutObserved(entry, entryMark)
    }
  }
}
