/** Answers the requests of a directory by the key of their route. */
import * as Effect from "effect/Effect"
import type { IncomingHttpHeaders } from "node:http"
import type { ScimRoute } from "../../contract/EdgeRoutes.ts"
import type { Bounds } from "../../subjects/people/Bounds.ts"
import { resourceTypes, schemas, serviceProviderConfig } from "../../subjects/scim/Descriptions.ts"
import { ScimError } from "../../subjects/scim/entity.ts"
import * as Resources from "../../subjects/scim/Resources.ts"
import { type Asked, type Deps, makeScim, type Query, type Refused } from "../../subjects/scim/service.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { fitsOf, isKnown, listAnswer, queryOf, type ScimAnswer, selectionOf } from "./ScimReply.ts"

export interface ScimRequest {
  readonly key: ScimRoute["key"]
  /** Parameter of the path. */
  readonly id: string
  readonly headers: IncomingHttpHeaders
  readonly search: URLSearchParams
  /** Address of the service provider, as the caller used it. */
  readonly base: string
  readonly bounds: Bounds | null
  readonly body: JsonObject
}

type Answered = Effect.Effect<ScimAnswer, Refused>

interface Described {
  readonly id: string
}

const shown = (request: ScimRequest, resource: JsonObject, version: string, status = 200): ScimAnswer =>
  status === 200 && isKnown(request.headers, version)
    ? { status: 304, body: null, version }
    : { status, body: resource, version }

const notThere = new ScimError({ status: 404, detail: "There is no such description." })

const listed = (all: ReadonlyArray<JsonObject>): Answered => Effect.succeed(listAnswer(all.length, 1, all))

const described = (all: ReadonlyArray<JsonObject & Described>, wanted: string): Answered => {
  const found = all.find(({ id }) => id.toLowerCase() === wanted.toLowerCase())
  return found === undefined ? Effect.fail(notThere) : Effect.succeed({ status: 200, body: found })
}

const gone = (id: string): ScimAnswer => ({ status: 204, body: null, target: id })

const asked = ({ body, bounds, headers }: ScimRequest): Asked => ({ body, bounds, fits: fitsOf(headers) })

/** Answers about one kind of resource. */
interface Kind<A> {
  readonly get: (id: string) => Effect.Effect<A, Refused>
  readonly resource: (one: A, request: ScimRequest) => JsonObject
  readonly version: (one: A) => string
  readonly path: string
}

const makeKind = <A>({ get, path, resource, version }: Kind<A>) => {
  const one = (request: ScimRequest, id: string, status: number): Answered =>
    Effect.map(get(id), (found) => ({
      ...shown(request, resource(found, request), version(found), status),
      location: `${request.base}/${path}/${id}`
    }))
  return {
    get: (request: ScimRequest) => one(request, request.id, 200),
    /** Answers with what a change has made; a condition of the request was for the state before it. */
    changed: (request: ScimRequest, change: Effect.Effect<string, Refused>, status: number): Answered =>
      Effect.flatMap(change, (id) =>
        Effect.map(one({ ...request, headers: {} }, id, status), (answer) => ({ ...answer, target: id }))
      )
  }
}

const pageOf = <A>(
  request: ScimRequest,
  list: (query: Query) => Effect.Effect<{ readonly total: number; readonly page: ReadonlyArray<A> }, Refused>,
  resource: (one: A, request: ScimRequest) => JsonObject
): Answered => {
  const query = queryOf(request.search)
  return query instanceof ScimError
    ? Effect.fail(query)
    : Effect.map(list(query), ({ page, total }) =>
        listAnswer(
          total,
          query.startIndex,
          page.map((one) => resource(one, request))
        )
      )
}

export const makeAnswers = (deps: Deps): ((request: ScimRequest) => Answered) => {
  const scim = makeScim(deps)
  const user = (one: Resources.PushedUser, { base, search }: ScimRequest): JsonObject =>
    Resources.userResource(one, scim.directory(), base, selectionOf(search))
  const group = (one: Parameters<typeof Resources.groupResource>[0], { base, search }: ScimRequest): JsonObject =>
    Resources.groupResource(one, scim.directory(), base, selectionOf(search))
  const users = makeKind({ get: scim.getUser, resource: user, version: Resources.userVersion, path: "Users" })
  const groups = makeKind({ get: scim.getGroup, resource: group, version: Resources.groupVersion, path: "Groups" })

  return (request) => {
    const { base, id, key } = request
    switch (key) {
      case "scim.config":
        return Effect.succeed({ status: 200, body: serviceProviderConfig(base) })
      case "scim.resourceTypes":
        return listed(resourceTypes(base))
      case "scim.resourceType":
        return described(resourceTypes(base), id)
      case "scim.schemas":
        return listed(schemas(base))
      case "scim.schema":
        return described(schemas(base), id)
      case "scim.listUsers":
        return pageOf(request, scim.listUsers, user)
      case "scim.getUser":
        return users.get(request)
      case "scim.createUser":
        return users.changed(request, scim.createUser(asked(request)), 201)
      case "scim.replaceUser":
        return users.changed(request, scim.replaceUser(id, asked(request)), 200)
      case "scim.patchUser":
        return users.changed(request, scim.patchUser(id, asked(request)), 200)
      case "scim.removeUser":
        return Effect.as(scim.removeUser(id, asked(request)), gone(id))
      case "scim.listGroups":
        return pageOf(request, scim.listGroups, group)
      case "scim.getGroup":
        return groups.get(request)
      case "scim.createGroup":
        return groups.changed(request, scim.createGroup(asked(request)), 201)
      case "scim.replaceGroup":
        return groups.changed(request, scim.replaceGroup(id, asked(request)), 200)
      case "scim.patchGroup":
        // All members of a large group are no answer to a small change (RFC 7644, 3.5.2), unless attributes are asked for.
        return request.search.has("attributes")
          ? groups.changed(request, scim.patchGroup(id, asked(request)), 200)
          : Effect.as(scim.patchGroup(id, asked(request)), gone(id))
      case "scim.removeGroup":
        return Effect.as(scim.removeGroup(id, asked(request)), gone(id))
    }
  }
}
