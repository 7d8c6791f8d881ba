/** Endpoints of the contract, made from the table of management routes: method, path, and who may call them are said there only. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as Schema from "effect/Schema"
import { type ManagementKey, type ManagementTable, managementTable } from "./ManagementRoutes.ts"
import { type AccessOf, accessOf, type ManageAccess } from "./Security.ts"
import { WholeBody } from "./WholeBody.ts"

/** Names of the endpoints of a group. */
type NameIn<Group extends string> = ManagementKey extends infer Key
  ? Key extends `${Group}.${infer Name}`
    ? Name
    : never
  : never

type GroupName = ManagementKey extends infer Key ? (Key extends `${infer Group}.${string}` ? Group : never) : never

type RouteOf<Group extends string, Name extends string> = ManagementTable[`${Group}.${Name}` & ManagementKey]

/** `:name`s of a path. */
type ParameterOf<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

type PathOf<Path> = [ParameterOf<Path>] extends [never] ? never : { readonly [Name in ParameterOf<Path>]: string }

type MiddlewareOf<Group extends string, Name extends string> = AccessOf[RouteOf<Group, Name>["tier"]] | WholeBody

type EndpointOf<Group extends string, Name extends string> = HttpApiEndpoint.HttpApiEndpoint<
  Name,
  RouteOf<Group, Name>["method"],
  PathOf<RouteOf<Group, Name>["path"]>,
  never,
  never,
  never,
  void,
  HttpApiMiddleware.HttpApiMiddleware.Error<MiddlewareOf<Group, Name>>,
  MiddlewareOf<Group, Name>
>

const parametersOf = (path: string): ReadonlyArray<string> =>
  Array.from(path.matchAll(/:(\w+)/g), ([, name = ""]) => name)

/** Gives the endpoints of a group by their names, with the parameters of their paths. The last middleware is asked first. */
export const endpointsOf =
  <Group extends GroupName>(group: Group) =>
  <Name extends NameIn<Group>>(name: Name): EndpointOf<Group, Name> => {
    const { method, path, tier } = managementTable[`${group}.${name}` as ManagementKey]
    const endpoint = HttpApiEndpoint.make(method)(name, path)
      .middleware(WholeBody)
      .middleware(accessOf[tier] as typeof ManageAccess)
    const parameters = parametersOf(path)
    const withPath =
      parameters.length === 0
        ? endpoint
        : endpoint.setPath(Schema.Struct(Object.fromEntries(parameters.map((parameter) => [parameter, Schema.String]))))
    // The table has for each name what the types above infer from it.
    return withPath as unknown as EndpointOf<Group, Name>
  }
