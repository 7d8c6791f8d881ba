/** Endpoints of the contract, made from the table of management routes: method, path, and who may call them are said there only. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"
import { field } from "../kernel/Documented.ts"
import { PreconditionFailedAnswer } from "./Errors.ts"
import { type GroupName, type ManagementKey, type ManagementTable, managementTable } from "./ManagementRoutes.ts"
import { ListedBy, type Listing } from "./Listing.ts"
import { type AccessOf, accessOf, type ManageAccess } from "./Security.ts"
import { WholeBody } from "./WholeBody.ts"

/** Names of the endpoints of a group. */
type NameIn<Group extends string> = ManagementKey extends infer Key
  ? Key extends `${Group}.${infer Name}`
    ? Name
    : never
  : never

type RouteOf<Group extends string, Name extends string> = ManagementTable[`${Group}.${Name}` & ManagementKey]

/** The name of a segment that goes on behind it, such as `:tool-settings`. */
type NameOf<Segment> = Segment extends `${infer Name}-${string}` ? Name : Segment

/** `:name`s of a path. */
type ParameterOf<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? NameOf<Name> | ParameterOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? NameOf<Name>
    : never

type PathOf<Path> = [ParameterOf<Path>] extends [never]
  ? never
  : { readonly [Name in ParameterOf<Path> & string]: string }

type Failed<S extends Schema.Schema.All> = Schema.Schema.Type<S>

/** Errors that only changes are answered with. */
type ChangeError<Method> = Method extends "PUT" | "PATCH" | "DELETE" ? Failed<typeof PreconditionFailedAnswer> : never

type MiddlewareOf<Group extends string, Name extends string> = AccessOf[RouteOf<Group, Name>["tier"]] | WholeBody

type EndpointOf<Group extends string, Name extends string> = HttpApiEndpoint.HttpApiEndpoint<
  Name,
  RouteOf<Group, Name>["method"],
  PathOf<RouteOf<Group, Name>["path"]>,
  never,
  never,
  never,
  void,
  HttpApiMiddleware.HttpApiMiddleware.Error<MiddlewareOf<Group, Name>> | ChangeError<RouteOf<Group, Name>["method"]>,
  MiddlewareOf<Group, Name>
>

/** Methods that change what is at a path, and take `If-Match`. */
export const changes: ReadonlySet<string> = new Set(["PUT", "PATCH", "DELETE"])

const parametersOf = (path: string): ReadonlyArray<string> =>
  Array.from(path.matchAll(/:(\w+)/g), ([, name = ""]) => name)

/** A request body as a client sends it, for the API document. */
export class RequestExample extends Context.Tag("gateway/contract/RequestExample")<RequestExample, unknown>() {}

/** Marks a list that is answered in pages when a request asks for it (`Pages`). */
export class IsPaged extends Context.Reference<IsPaged>()("gateway/contract/IsPaged", { defaultValue: () => false }) {}

export interface EndpointWords {
  /** A few words, without a full stop. */
  readonly summary: string
  readonly description: string
  /** A body that works as it is, once its ids are those of the reader's gateway. Absent: made from the examples of its fields. */
  readonly example?: unknown
  /** A list that takes `limit` and `cursor`. */
  readonly paged?: boolean
  /** A list that takes these and is searched and sorted. */
  readonly listed?: Listing
}

/** Meaning and example of each parameter of the group's paths. */
type ParameterWords = Readonly<Record<string, readonly [description: string, example: string]>>

const pathSchema = (names: ReadonlyArray<string>, words: ParameterWords) =>
  Schema.Struct(
    Object.fromEntries(names.map((name) => [name, field(Schema.String, ...(words[name] ?? ["", ""]))] as const))
  )

/** Gives the endpoints of a group by their names, with the parameters of their paths. The last middleware is asked first. */
export const endpointsOf =
  <Group extends GroupName>(group: Group, words: ParameterWords = {}) =>
  <Name extends NameIn<Group>>(
    name: Name,
    { description, example, listed, paged = listed !== undefined, summary }: EndpointWords
  ): EndpointOf<Group, Name> => {
    const { method, path, tier } = managementTable[`${group}.${name}` as ManagementKey]
    const made = HttpApiEndpoint.make(method)(name, path)
      .middleware(WholeBody)
      .middleware(accessOf[tier] as typeof ManageAccess)
      .annotate(OpenApi.Summary, summary)
      .annotate(OpenApi.Description, description)
      .annotate(IsPaged, paged)
    const listing = listed === undefined ? made : made.annotate(ListedBy, listed)
    const refusing = changes.has(method) ? listing.addError(PreconditionFailedAnswer) : listing
    const endpoint = example === undefined ? refusing : refusing.annotate(RequestExample, example)
    const parameters = parametersOf(path)
    const withPath = parameters.length === 0 ? endpoint : endpoint.setPath(pathSchema(parameters, words))
    // The table has for each name what the types above infer from it.
    return withPath as unknown as EndpointOf<Group, Name>
  }
