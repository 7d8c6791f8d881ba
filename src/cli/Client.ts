/**
 * Talking to a running gateway: the client of one group of the contract, and the words for what may go wrong on the way.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpApiClient from "@effect/platform/HttpApiClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { GatewayApi } from "../api/Api.ts"
import { CompatApi } from "../api/CompatApi.ts"
import { loadConfig } from "./EnvFile.ts"
import { AuthRefused, BadArgument, type CliFailure, CommandFailed, ServerOffline } from "./Failure.ts"

/** Flags that say which gateway and with which key. */
export const connection = {
  url: Options.text("url").pipe(
    Options.withDescription("Address of the gateway (GATEWAY_URL, else this machine and PORT)."),
    Options.optional
  ),
  apiKey: Options.redacted("api-key").pipe(
    Options.withDescription("Key of the gateway (GATEWAY_ADMIN_KEY or GATEWAY_API_KEY)."),
    Options.optional
  )
}

/** The same where `--api-key` is the key of a provider. */
export const connectionBesideProviderKey = {
  url: connection.url,
  apiKey: Options.redacted("gateway-key").pipe(
    Options.withDescription("Key of the gateway (GATEWAY_ADMIN_KEY or GATEWAY_API_KEY)."),
    Options.optional
  )
}

interface ConnectionFlags {
  readonly url: Option.Option<string>
  readonly apiKey: Option.Option<Redacted.Redacted>
}

/** A gateway to talk to. */
export interface Target {
  readonly url: string
  readonly apiKey: Redacted.Redacted | null
}

const loopback: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "[::1]" }

/** The address under which a gateway that listens on `host` is reached from this machine. */
export const addressOf = (host: string, port: number): string => {
  const name = loopback[host] ?? (host.includes(":") ? `[${host}]` : host)
  return `http://${name}:${port}`
}

/** Which gateway the flags, else the environment, else the configuration name. */
export const target = Effect.fn("cli.target")(function* (flags: ConnectionFlags) {
  const config = yield* loadConfig
  const { environment } = config
  const url =
    Option.getOrUndefined(flags.url) ?? environment.get("GATEWAY_URL") ?? addressOf(config.host, config.port || 20_128)
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return yield* new BadArgument({
      message: `'${url}' is not an http or https address.`,
      hint: "Correct --url or GATEWAY_URL."
    })
  }
  const fromEnvironment = environment.get("GATEWAY_ADMIN_KEY") || environment.get("GATEWAY_API_KEY")
  const apiKey = Option.getOrNull(flags.apiKey) ?? (fromEnvironment ? Redacted.make(fromEnvironment) : null)
  return { url: url.replace(/\/+$/, ""), apiKey } satisfies Target
})

const httpClient = (to: Target) =>
  Effect.map(HttpClient.HttpClient, (client) =>
    client.pipe(
      HttpClient.mapRequest((request) =>
        to.apiKey === null ? request : HttpClientRequest.bearerToken(request, to.apiKey)
      ),
      HttpClient.withTracerPropagation(false)
    )
  ).pipe(Effect.provide(FetchHttpClient.layer))

const howToGetAKey = [
  "Give one with --api-key or GATEWAY_ADMIN_KEY. On the machine of the gateway, 'gateway keys add <name> --scope manage --local'",
  "makes one; or start the gateway with GATEWAY_ADMIN_KEY set to a secret of your own."
].join("\n")

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** What a failed call means for the person at the command line. */
const explain =
  (to: Target) =>
  (error: unknown): CliFailure => {
    const tag = Predicate.hasProperty(error, "_tag") ? error._tag : null
    switch (tag) {
      case "RequestError":
        return new ServerOffline({
          message: `No gateway answers at ${to.url}.`,
          hint: "Start it with 'gateway serve', or name another one with --url or GATEWAY_URL."
        })
      case "Unauthorized":
        return to.apiKey === null
          ? new AuthRefused({ message: `The gateway at ${to.url} asks for a key.`, hint: howToGetAKey })
          : new AuthRefused({ message: `The gateway at ${to.url} does not accept this key.`, hint: howToGetAKey })
      case "Forbidden":
        return new AuthRefused({ message: messageOf(error), hint: "Use a key of scope 'manage'." })
      case "BadRequest":
      case "NotFound":
        return new BadArgument({ message: messageOf(error) })
      case "ResponseError":
      case "ParseError":
      case "HttpApiDecodeError":
        return new CommandFailed({
          message: `What answers at ${to.url} does not speak this gateway's contract.`,
          hint: "Check the address with --url, and that both ends are of one version ('gateway status')."
        })
      default:
        return new CommandFailed({ message: messageOf(error) })
    }
  }

type GroupsOf<Api> = Api extends HttpApi.HttpApi<infer _Id, infer Groups, infer _E, infer _R> ? Groups : never

/** The client of one group of the management contract. */
export const group = <const Name extends HttpApiGroup.HttpApiGroup.Name<GroupsOf<typeof GatewayApi>>>(
  to: Target,
  name: Name
) =>
  Effect.flatMap(httpClient(to), (client) =>
    HttpApiClient.group(GatewayApi, { group: name, httpClient: client, baseUrl: to.url })
  )

/** The client of the inference routes that are described by the contract. */
export const inference = (to: Target) =>
  Effect.flatMap(httpClient(to), (client) =>
    HttpApiClient.group(CompatApi, { group: "inference", httpClient: client, baseUrl: to.url })
  )

/** Longer than the gateway itself waits for a provider. */
const patience = "60 seconds"

/** Makes the failures of a call words for the person, and gives up on a gateway that never answers. */
export const orExplain =
  (to: Target) =>
  <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, CliFailure, R> =>
    call.pipe(
      Effect.mapError(explain(to)),
      Effect.timeoutFail({
        duration: patience,
        onTimeout: () => new ServerOffline({ message: `The gateway at ${to.url} did not answer within ${patience}.` })
      })
    )
