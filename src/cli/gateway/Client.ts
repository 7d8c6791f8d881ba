/**
 * Talking to a running gateway: the client of one group of the contract, and the words for what may go wrong on the way.
 */
import * as HttpApiClient from "@effect/platform/HttpApiClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type { GatewayApi } from "../../api/Api.ts"
import { withCommonErrors } from "../../api/CommonErrors.ts"
import { ModelList } from "../../api/compat/Chat.ts"
import {
  AuthRefused,
  BadArgument,
  type CliFailure,
  CommandFailed,
  isCliFailure,
  RateLimited,
  ServerOffline,
  NoAnswerInTime
} from "../Failure.ts"
import { loadRoom } from "../lazy.ts"
import * as NodeHttp from "./NodeHttp.ts"
import { withSpinner } from "../output/spinner.ts"
import type { Target } from "./Target.ts"

export { atPlace, connection, here, place, type Target, target } from "./Target.ts"

/** The platform's client with the key of the target on every request. */
export const httpClient = (to: Target, headers: Readonly<Record<string, string>> = {}): HttpClient.HttpClient =>
  NodeHttp.client.pipe(
    HttpClient.mapRequest((request) => {
      const withHeaders = HttpClientRequest.setHeaders(request, headers)
      return to.apiKey === null ? withHeaders : HttpClientRequest.bearerToken(withHeaders, to.apiKey)
    }),
    HttpClient.withTracerPropagation(false)
  )

const howToGetAKey = [
  "Log in with 'gateway login <url>', or give a key with --gateway-key or GATEWAY_ADMIN_KEY.",
  "On the gateway's own machine, the user who runs it needs none: try --local."
].join("\n")

/** The token changes with every start. */
const tokenIsOld = "It may have been restarted just now: run the command again."

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const again = "Wait a little, then run the command again."

const start = "Start it with 'gateway serve', or name another one with --url or GATEWAY_URL."
const offlineHints: Readonly<Record<Target["namedBy"], string>> = {
  url: start,
  context:
    "You are logged in to it: check that it runs, choose another with 'gateway context use', or use --local for this machine's.",
  owner: start,
  default: `${start} One on another machine: 'gateway login <url>'.`
}

const notOurs = (to: Target): CommandFailed =>
  new CommandFailed({
    message: `What answers at ${to.url} does not speak this gateway's contract.`,
    hint: "Check the address with --url, and that both ends are of one version ('gateway status')."
  })

/** An answer of a status that the contract does not have there, such as one of a proxy in front; null where that says nothing. */
const ofStatus = (to: Target, status: number): CliFailure | null => {
  const message = `${to.url} answered with the status ${status}.`
  switch (status) {
    case 400:
    case 404:
    case 413:
    case 415:
    case 422:
      return new BadArgument({ message })
    case 401:
    case 403:
      return new AuthRefused({ message, hint: howToGetAKey })
    case 408:
      return new NoAnswerInTime({ message, hint: again })
    case 429:
      return new RateLimited({ message, hint: again })
    default:
      return status >= 500 ? new CommandFailed({ message, hint: again }) : null
  }
}

const isTagged = (error: unknown): error is { readonly _tag: string } =>
  Predicate.hasProperty(error, "_tag") && typeof error._tag === "string"

/** What a failed call means for the person at the command line. What is in words for them already stays. */
export const explain =
  (to: Target) =>
  (error: unknown): CliFailure => {
    if (isTagged(error) && isCliFailure(error)) return error
    const tag = isTagged(error) ? error._tag : null
    switch (tag) {
      case "RequestError":
        return new ServerOffline({
          message: `No gateway answers at ${to.url}.`,
          hint: offlineHints[to.namedBy]
        })
      case "Unauthorized":
        return to.apiKey === null
          ? new AuthRefused({ message: `The gateway at ${to.url} asks for a key.`, hint: howToGetAKey })
          : new AuthRefused({
              message: `The gateway at ${to.url} does not accept this key.`,
              hint: to.namedBy === "owner" ? tokenIsOld : howToGetAKey
            })
      case "Forbidden":
        return new AuthRefused({ message: messageOf(error), hint: "Use a key of scope 'manage'." })
      case "BadRequest":
      case "NotFound":
      case "Unprocessable":
        return new BadArgument({ message: messageOf(error) })
      case "TooManyRequests":
        return new RateLimited({ message: messageOf(error), hint: again })
      case "ResponseError": {
        const status = error instanceof HttpClientError.ResponseError ? error.response.status : 0
        return ofStatus(to, status) ?? notOurs(to)
      }
      case "ParseError":
      case "HttpApiDecodeError":
        return notOurs(to)
      default:
        return new CommandFailed({ message: messageOf(error) })
    }
  }

type GroupsOf<Api> = Api extends HttpApi.HttpApi<infer _Id, infer Groups, infer _E, infer _R> ? Groups : never
type Groups = GroupsOf<typeof GatewayApi>
type Name = HttpApiGroup.HttpApiGroup.Name<Groups>

/** Each group of the contract is loaded alone: making a client of all takes longer than most commands. */
const groups: { readonly [N in Name]: () => Promise<HttpApiGroup.HttpApiGroup.Any> } = {
  acp: () => import("../../api/Groups/Acp.ts").then(({ Acp }) => Acp),
  cliTools: () => import("../../api/Groups/CliTools.ts").then(({ CliTools }) => CliTools),
  capture: () => import("../../api/Groups/Capture.ts").then(({ Capture }) => Capture),
  agentBridge: () => import("../../api/Groups/AgentBridge.ts").then(({ AgentBridge }) => AgentBridge),
  mcp: () => import("../../api/Groups/Mcp.ts").then(({ Mcp }) => Mcp),
  mcpServers: () => import("../../api/Groups/McpServers.ts").then(({ McpServers }) => McpServers),
  a2a: () => import("../../api/Groups/A2a.ts").then(({ A2a }) => A2a),
  agentSkills: () => import("../../api/Groups/AgentSkills.ts").then(({ AgentSkills }) => AgentSkills),
  tunnels: () => import("../../api/Groups/Tunnels.ts").then(({ Tunnels }) => Tunnels),
  audit: () => import("../../api/Groups/Audit.ts").then(({ Audit }) => Audit),
  auth: () => import("../../api/Groups/Auth.ts").then(({ Auth }) => Auth),
  backups: () => import("../../api/Groups/Backups.ts").then(({ Backups }) => Backups),
  providers: () => import("../../api/Groups/Providers.ts").then(({ Providers }) => Providers),
  providerNodes: () => import("../../api/Groups/ProviderNodes.ts").then(({ ProviderNodes }) => ProviderNodes),
  providerModels: () => import("../../api/Groups/ProviderModels.ts").then(({ ProviderModels }) => ProviderModels),
  combos: () => import("../../api/Groups/Combos.ts").then(({ Combos }) => Combos),
  compressionCombos: () =>
    import("../../api/Groups/CompressionCombos.ts").then(({ CompressionCombos }) => CompressionCombos),
  rtk: () => import("../../api/Groups/Rtk.ts").then(({ Rtk }) => Rtk),
  guardrails: () => import("../../api/Groups/Guardrails.ts").then(({ Guardrails }) => Guardrails),
  compression: () => import("../../api/Groups/Compression.ts").then(({ Compression }) => Compression),
  memory: () => import("../../api/Groups/Memory.ts").then(({ Memory }) => Memory),
  modelAliases: () => import("../../api/Groups/ModelAliases.ts").then(({ ModelAliases }) => ModelAliases),
  quotaGroups: () => import("../../api/Groups/QuotaGroups.ts").then(({ QuotaGroups }) => QuotaGroups),
  keys: () => import("../../api/Groups/Keys.ts").then(({ Keys }) => Keys),
  registeredKeys: () => import("../../api/Groups/RegisteredKeys.ts").then(({ RegisteredKeys }) => RegisteredKeys),
  issueLimits: () => import("../../api/Groups/IssueLimits.ts").then(({ IssueLimits }) => IssueLimits),
  issueReports: () => import("../../api/Groups/IssueReports.ts").then(({ IssueReports }) => IssueReports),
  modelCatalog: () => import("../../api/Groups/ModelCatalog.ts").then(({ ModelCatalog }) => ModelCatalog),
  oauth: () => import("../../api/Groups/OAuth.ts").then(({ OAuth }) => OAuth),
  policies: () => import("../../api/Groups/Policies.ts").then(({ Policies }) => Policies),
  pricing: () => import("../../api/Groups/Pricing.ts").then(({ Pricing }) => Pricing),
  telemetry: () => import("../../api/Groups/Telemetry.ts").then(({ Telemetry }) => Telemetry),
  usageHistory: () => import("../../api/Groups/UsageHistory.ts").then(({ UsageHistory }) => UsageHistory),
  usage: () => import("../../api/Groups/Usage.ts").then(({ Usage }) => Usage),
  plugins: () => import("../../api/Groups/Plugins.ts").then(({ Plugins }) => Plugins),
  proxies: () => import("../../api/Groups/Proxies.ts").then(({ Proxies }) => Proxies),
  webhooks: () => import("../../api/Groups/Webhooks.ts").then(({ Webhooks }) => Webhooks),
  evals: () => import("../../api/Groups/Evals.ts").then(({ Evals }) => Evals),
  limits: () => import("../../api/Groups/Limits.ts").then(({ Limits }) => Limits),
  live: () => import("../../api/Groups/Live.ts").then(({ Live }) => Live),
  inspector: () => import("../../api/Groups/Inspector.ts").then(({ Inspector }) => Inspector),
  playground: () => import("../../api/Groups/Playground.ts").then(({ Playground }) => Playground),
  routing: () => import("../../api/Groups/Routing.ts").then(({ Routing }) => Routing),
  routingSettings: () => import("../../api/Groups/RoutingSettings.ts").then(({ RoutingSettings }) => RoutingSettings),
  resilience: () => import("../../api/Groups/Resilience.ts").then(({ Resilience }) => Resilience),
  rateLimits: () => import("../../api/Groups/RateLimits.ts").then(({ RateLimits }) => RateLimits),
  sync: () => import("../../api/Groups/Sync.ts").then(({ Sync }) => Sync),
  system: () => import("../../api/Groups/System.ts").then(({ System }) => System),
  flags: () => import("../../api/Groups/Flags.ts").then(({ Flags }) => Flags),
  gatewaySettings: () => import("../../api/Groups/GatewaySettings.ts").then(({ GatewaySettings }) => GatewaySettings)
}

/** The client of one group of the management contract. `headers` are sent with every call. */
export const group = <const N extends Name>(to: Target, name: N, headers?: Readonly<Record<string, string>>) =>
  Effect.flatMap(loadRoom(groups[name]), (loaded) => {
    const api = withCommonErrors(HttpApi.make("gateway").add(loaded))
    return HttpApiClient.group(
      // It has this group, which is all that the client of the group reads.
      api as unknown as typeof GatewayApi,
      {
        group: name,
        httpClient: httpClient(to, headers),
        baseUrl: to.url
      }
    )
  })

/** The models that clients can ask for. */
const models = HttpApiEndpoint.get("models", "/v1/models").addSuccess(ModelList)
const inferenceApi = withCommonErrors(HttpApi.make("gateway").add(HttpApiGroup.make("inference").add(models)))

export const inference = (to: Target) =>
  HttpApiClient.group(inferenceApi, { group: "inference", httpClient: httpClient(to), baseUrl: to.url })

/** What came of a question. */
export interface Asked {
  readonly status: number
  readonly requestId: string | null
  readonly answer: string | null
  /** Null when it was answered. */
  readonly error: string | null
}

/** The text at a path of a value; null when there is none. */
export const textAt = (body: unknown, ...path: ReadonlyArray<string | number>): string | null => {
  let value: unknown = body
  for (const step of path) value = Predicate.isRecord(value) || Array.isArray(value) ? Reflect.get(value, step) : null
  return typeof value === "string" ? value : null
}

/** Longer than the gateway itself waits for a provider. */
const patience = "60 seconds"

/** Makes the failures of a call words for the person, and gives up on a gateway that never answers. */
export const orExplain =
  (to: Target, within: typeof patience | "1 hour" = patience) =>
  <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, CliFailure, R> =>
    call.pipe(
      Effect.mapError(explain(to)),
      withSpinner("Waiting for the gateway …"),
      Effect.timeoutFail({
        duration: within,
        onTimeout: () => new NoAnswerInTime({ message: `The gateway at ${to.url} did not answer within ${within}.` })
      })
    )

/** Asks a model one question on the chat wire, as clients do; a refusal is an answer, too. */
export const ask = (to: Target, body: unknown): Effect.Effect<Asked, CliFailure> =>
  httpClient(to)
    .execute(HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(`${to.url}/v1/chat/completions`), body))
    .pipe(
      Effect.flatMap((response) =>
        Effect.map(response.json, (answer): Asked => {
          const { headers, status } = response
          const isAnswer = status >= 200 && status < 300
          return {
            status,
            requestId: headers["x-gateway-request-id"] ?? null,
            answer: isAnswer ? textAt(answer, "choices", 0, "message", "content") : null,
            error: isAnswer ? null : (textAt(answer, "error", "message") ?? `The status is ${status}.`)
          }
        })
      ),
      Effect.scoped,
      orExplain(to)
    )

/** The failure that an answer with an error status is. `hint` says what to do about a wrong request. */
export const refused = (
  to: Target,
  status: number,
  message: string,
  hint: string | null = "'gateway model list' shows what can be asked."
): CliFailure => {
  switch (ofStatus(to, status)?._tag) {
    case "BadArgument":
      return new BadArgument(hint === null ? { message } : { message, hint })
    case "AuthRefused":
      return new AuthRefused({ message, hint: howToGetAKey })
    case "RateLimited":
      return new RateLimited({ message, hint: again })
    case "NoAnswerInTime":
      return new NoAnswerInTime({ message, hint: again })
    default:
      return new CommandFailed({
        message,
        hint:
          status === 409 && hint !== null
            ? hint
            : "'gateway status' and 'gateway provider list' show what is connected."
      })
  }
}
