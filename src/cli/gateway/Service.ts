/** The client of one group of the contract whose calls fail with sentences for the person. */
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Effect from "effect/Effect"
import type { CliFailure } from "../Failure.ts"
import { group, type GroupName, type Groups, orExplain, type Target } from "./Client.ts"

type Call<Endpoint> = [Endpoint] extends [
  HttpApiEndpoint.HttpApiEndpoint<
    infer _Name,
    infer _Method,
    infer Path,
    infer UrlParams,
    infer Payload,
    infer Headers,
    infer Success,
    infer _Error,
    infer _R,
    infer _RE
  >
]
  ? (
      request: HttpApiEndpoint.HttpApiEndpoint.ClientRequest<Path, UrlParams, Payload, Headers, false>
    ) => Effect.Effect<Success, CliFailure>
  : never

type EndpointIn<Name extends GroupName> = HttpApiGroup.HttpApiGroup.EndpointsWithName<Groups, Name>

export type Service<Name extends GroupName> = {
  readonly [Endpoint in EndpointIn<Name> as HttpApiEndpoint.HttpApiEndpoint.Name<Endpoint>]: Call<Endpoint>
}

type AnyCall = (request: unknown) => Effect.Effect<unknown, unknown>

export const serviceOf = <const Name extends GroupName>(
  to: Target,
  name: Name,
  query?: Readonly<Record<string, string>>
) =>
  // Each call has the types of the group's client, but for its failures; middleware needs nothing of a client.
  Effect.map(group(to, name, undefined, query), (client) => {
    const calls = Object.entries(client as unknown as Readonly<Record<string, AnyCall>>)
    return Object.fromEntries(
      calls.map(([key, call]) => [key, (request: unknown) => call(request).pipe(orExplain(to))])
    )
  }) as unknown as Effect.Effect<Service<Name>, CliFailure>
