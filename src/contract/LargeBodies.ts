/**
 * Large request bodies of the contract: only the first thing that is wrong is looked for. The contract reports everything that is wrong
 * with a body, and to gather and word it for a list of many entries takes seconds in which nothing else is served.
 */
import { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { madeGroup } from "./GroupContract.ts"

/** A body from this size on is a large one. */
export const largeBodyBytes = 8_192

type Decode = (body: unknown) => Either.Either<unknown, ParseResult.ParseIssue>

const firstOnly = (schema: Schema.Schema.All): Decode => {
  const annotated = schema.annotations({
    parseOptions: { ...Option.getOrUndefined(AST.getParseOptionsAnnotation(schema.ast)), errors: "first" }
  })
  return ParseResult.decodeUnknownEither(annotated as Schema.Schema<unknown>)
}

/** The same issue without what was given: to write a large value out is what takes the time, and no answer repeats it. */
const withoutActual = (issue: ParseResult.ParseIssue): ParseResult.ParseIssue => {
  switch (issue._tag) {
    case "Pointer":
      return new ParseResult.Pointer(issue.path, null, withoutActual(issue.issue))
    case "Composite": {
      const [first, ...rest] = Array.isArray(issue.issues) ? issue.issues : [issue.issues]
      return new ParseResult.Composite(issue.ast, null, [withoutActual(first), ...rest.map(withoutActual)])
    }
    case "Refinement":
      return new ParseResult.Refinement(issue.ast, null, issue.kind, withoutActual(issue.issue))
    case "Transformation":
      return new ParseResult.Transformation(issue.ast, null, issue.kind, withoutActual(issue.issue))
    case "Type":
      return new ParseResult.Type(issue.ast, null, issue.message)
    case "Unexpected":
      return new ParseResult.Unexpected(null, issue.message)
    default:
      return issue
  }
}

const endpointOf = (route: string) => {
  const [group = "", name = ""] = route.split(".")
  return madeGroup(group)?.endpoints[name]
}

/** Tells whether the contract of a route has a body; true as long as the contract was not made. */
export const takesBody = (route: string): boolean => {
  const endpoint = endpointOf(route)
  return endpoint === undefined || Option.isSome(endpoint.payloadSchema)
}

const decoders = new Map<string, Decode | null>()

/** Null where a route has no body, or its contract was not made. */
const decoderOf = (route: string): Decode | null => {
  const known = decoders.get(route)
  if (known !== undefined) return known
  const endpoint = endpointOf(route)
  if (endpoint === undefined) return null
  const decode = Option.match(endpoint.payloadSchema, { onNone: () => null, onSome: firstOnly })
  decoders.set(route, decode)
  return decode
}

/** Finds the first problem of the body of a route (`<group>.<endpoint>`); null when there is none. */
export const firstProblem = (route: string, body: unknown): HttpApiDecodeError | null => {
  const decoded = decoderOf(route)?.(body)
  if (decoded === undefined || Either.isRight(decoded)) return null
  const issues = ParseResult.ArrayFormatter.formatIssueSync(withoutActual(decoded.left))
  return new HttpApiDecodeError({ issues, message: "The body does not fit its schema." })
}
