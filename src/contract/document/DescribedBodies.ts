/**
 * Request bodies whose fields are described on the encoded side too. The library takes the words about a field from the decoded side, and only
 * for fields that are decoded from something else; the other fields of such a body would be without words in the document.
 */
import type * as HttpApi from "@effect/platform/HttpApi"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { longTextChars } from "./Forms.ts"
import { longTitle, secretTitle } from "./JsonSchemas.ts"
import { mapPayloads } from "../MapPayloads.ts"

const property = (
  { annotations, isOptional, isReadonly, name, type }: AST.PropertySignature,
  words: AST.Annotations
): AST.PropertySignature =>
  new AST.PropertySignature(name, described(type), isOptional, isReadonly, { ...words, ...annotations })

const isNull = (ast: AST.AST): boolean => AST.isLiteral(ast) && ast.literal === null

const takesNull = (ast: AST.AST): boolean => AST.isUnion(ast) && ast.types.some(isNull)

/** The type of a field in which null stands for "not given": that is said by leaving it out, and null is said of fields that it clears. */
const withoutNull = (ast: AST.AST): AST.AST =>
  AST.isUnion(ast)
    ? AST.Union.make(
        ast.types.filter((type) => !isNull(type)),
        ast.annotations
      )
    : ast

const isRedacted = (ast: AST.AST): boolean =>
  Option.getOrUndefined(AST.getAnnotation<{ readonly _tag: string }>(AST.TypeConstructorAnnotationId)(ast))?._tag ===
  "effect/Redacted"

/** The type with a title at each of its conditions: the document drops some of them. */
const titled = (ast: AST.AST, title: string): AST.AST =>
  AST.isRefinement(ast)
    ? new AST.Refinement(titled(ast.from, title), ast.filter, { ...ast.annotations, [AST.TitleAnnotationId]: title })
    : AST.annotations(ast, { [AST.TitleAnnotationId]: title })

interface LongestText {
  readonly maxLength?: number
}

/** Marks the text that a long one is made from: the limit is of what it becomes, which the document does not have. */
const longText = (ast: AST.AST): AST.AST => {
  if (AST.isRefinement(ast)) return new AST.Refinement(longText(ast.from), ast.filter, ast.annotations)
  if (!AST.isTransformation(ast) || isRedacted(ast.to)) return ast
  const from = AST.annotations(ast.from, { [AST.TitleAnnotationId]: longTitle })
  return new AST.Transformation(from, ast.to, ast.transformation, ast.annotations)
}

const literal = (
  { annotations, indexSignatures, propertySignatures }: AST.TypeLiteral,
  decoded: AST.AST | null
): AST.TypeLiteral => {
  const words = new Map(
    decoded !== null && AST.isTypeLiteral(decoded)
      ? decoded.propertySignatures.map((signature) => [signature.name, signature.annotations] as const)
      : []
  )
  const types = new Map(
    decoded !== null && AST.isTypeLiteral(decoded)
      ? decoded.propertySignatures.map((signature) => [signature.name, signature.type] as const)
      : []
  )
  const told = (signature: AST.PropertySignature): AST.PropertySignature => {
    const type = types.get(signature.name)
    const meansAbsent = signature.isOptional && type !== undefined && takesNull(signature.type) && !takesNull(type)
    return meansAbsent
      ? new AST.PropertySignature(
          signature.name,
          withoutNull(signature.type),
          true,
          signature.isReadonly,
          signature.annotations
        )
      : signature
  }
  return new AST.TypeLiteral(
    propertySignatures.map((signature) => property(told(signature), words.get(signature.name) ?? {})),
    indexSignatures.map(
      ({ isReadonly, parameter, type }) => new AST.IndexSignature(parameter, described(type), isReadonly)
    ),
    annotations
  )
}

const described = (ast: AST.AST): AST.AST => {
  switch (ast._tag) {
    case "TypeLiteral":
      return literal(ast, null)
    case "Transformation":
      if (isRedacted(ast.to)) {
        const secret = titled(ast.from, secretTitle)
        return new AST.Transformation(secret, ast.to, ast.transformation, ast.annotations)
      }
      return AST.isTypeLiteral(ast.from)
        ? new AST.Transformation(literal(ast.from, ast.to), ast.to, ast.transformation, ast.annotations)
        : ast
    case "Union":
      return AST.Union.make(ast.types.map(described), ast.annotations)
    case "Refinement": {
      const { maxLength = 0 } = Option.getOrElse(AST.getJSONSchemaAnnotation(ast), () => ({})) as LongestText
      const from = described(ast.from)
      return new AST.Refinement(maxLength > longTextChars ? longText(from) : from, ast.filter, ast.annotations)
    }
    case "TupleType":
      return new AST.TupleType(
        ast.elements.map(
          ({ annotations, isOptional, type }) => new AST.OptionalType(described(type), isOptional, annotations)
        ),
        ast.rest.map(({ annotations, type }) => new AST.Type(described(type), annotations)),
        ast.isReadonly,
        ast.annotations
      )
    default:
      return ast
  }
}

export const withDescribedBodies = <Api extends HttpApi.HttpApi.Any>(api: Api): Api =>
  mapPayloads(api, ({ ast }) => Schema.make(described(ast)))
