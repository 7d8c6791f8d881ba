/**
 * Request bodies whose fields are described on the encoded side too. The library takes the words about a field from the decoded side, and only
 * for fields that are decoded from something else; the other fields of such a body would be without words in the document.
 */
import type * as HttpApi from "@effect/platform/HttpApi"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { mapPayloads } from "../MapPayloads.ts"

const property = (
  { annotations, isOptional, isReadonly, name, type }: AST.PropertySignature,
  words: AST.Annotations
): AST.PropertySignature =>
  new AST.PropertySignature(name, described(type), isOptional, isReadonly, { ...words, ...annotations })

const literal = (
  { annotations, indexSignatures, propertySignatures }: AST.TypeLiteral,
  decoded: AST.AST | null
): AST.TypeLiteral => {
  const words = new Map(
    decoded !== null && AST.isTypeLiteral(decoded)
      ? decoded.propertySignatures.map((signature) => [signature.name, signature.annotations] as const)
      : []
  )
  return new AST.TypeLiteral(
    propertySignatures.map((signature) => property(signature, words.get(signature.name) ?? {})),
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
      return AST.isTypeLiteral(ast.from)
        ? new AST.Transformation(literal(ast.from, ast.to), ast.to, ast.transformation, ast.annotations)
        : ast
    case "Union":
      return AST.Union.make(ast.types.map(described), ast.annotations)
    case "Refinement":
      return new AST.Refinement(described(ast.from), ast.filter, ast.annotations)
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
