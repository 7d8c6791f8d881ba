/**
 * Request bodies of the contract take the fields they name and no others: a misspelt restriction must not be read as no restriction.
 * Set once for all endpoints, whatever their schemas say.
 */
import type * as HttpApi from "@effect/platform/HttpApi"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { mapPayloads } from "./MapPayloads.ts"

/** The same schema, which refuses members that it does not have. */
export const strict = ({ ast }: Schema.Schema.All): Schema.Schema.All =>
  Schema.make(
    AST.annotations(ast, {
      [AST.ParseOptionsAnnotationId]: {
        ...Option.getOrUndefined(AST.getParseOptionsAnnotation(ast)),
        onExcessProperty: "error"
      },
      // The library drops the name of a schema that gets annotations. This one is only for documents: the other is in error messages.
      ...Option.match(AST.getJSONIdentifier(ast), {
        onNone: () => ({}),
        onSome: (name) => ({ [AST.JSONIdentifierAnnotationId]: name })
      })
    })
  )

/** The same contract, whose bodies are refused when they hold a field that is not theirs, at any depth. */
export const withStrictBodies = <Api extends HttpApi.HttpApi.Any>(api: Api): Api => mapPayloads(api, strict)
