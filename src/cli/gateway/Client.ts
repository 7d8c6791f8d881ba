/**
 * Talking to a running gateway: the client of one group of the contract, and the words for what may go wrong on the way.
 */
import * as HttpApiClient from "@effect/platform/HttpApiClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type { GatewayApi } from "../../contract/Api.ts"
import { withCommonErrors } from "../../contract/CommonErrors.ts"
import { ModelList } from "../../contract/compat/Chat.ts"
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
import { loadModule } from "../lazy.ts"
import { groups } from "./Groups.generated.ts"
import * as NodeHttp from "./NodeHttp.ts"
import { withSpinner } from "../output/spinner.ts"
import { adviceFor, type ErrorFacts, ofCredential, type Refusal, refusalOf } from "./Advice.ts"
import { circumstancesOf, type Target } from "./Target.ts"
import { changedMeanwhile, withVersions } from "./Versions.ts"

const versionHeader = "x-gateway-version"

export {
  asOwner,
  atPlace,
  clientKeys,
  connection,
  editing,
  type GatewayFlags,
  here,
  place,
  type Target,
  target
} from "./Target.ts"

type Texts = Readonly<Record<string, string>>

/** The platform's client with the key of the target, and the query, on every request. */
export const httpClient = (to: Target, headers: Texts = {}, query: Texts = {}): HttpClient.HttpClient =>
  NodeHttp.client.pipe(
    HttpClient.mapRequest((request) => {
      const withHeaders = HttpClientRequest.setUrlParams(HttpClientRequest.setHeaders(request, headers), query)
      return to.apiKey === null ? withHeaders : HttpClientRequest.bearerToken(withHeaders, to.apiKey)
    }),
    HttpClient.withTracerPropagation(false),
    withVersions(to)
  )

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const isTagged = (error: unknown): error is { readonly _tag: string } =>
  Predicate.hasProperty(error, "_tag") && typeof error._tag === "string"

/** The refusal of a target in words, with the advice that fits it. `hint` is for a wrong request. */
export const failureOf = (to: Target, refusal: Refusal, message: string, hint: string | null = null): CliFailure => {
  const advice = adviceFor(refusal, circumstancesOf(to)) ?? hint
  const words = advice === null ? { message } : { message, hint: advice }
  if (ofCredential.has(refusal)) return new AuthRefused(words)
  switch (refusal) {
    case "offline":
      return new ServerOffline(words)
    case "timeout":
      return new NoAnswerInTime(words)
    case "badRequest":
      return new BadArgument(words)
    case "tooMany":
      return new RateLimited(words)
    // The cause is not known; what was sent as credential may be it.
    case "forbidden":
      return new AuthRefused(words)
    default:
      return new CommandFailed(words)
  }
}

const notOurs = (to: Target): CliFailure =>
  failureOf(to, "notOurs", `What answers at ${to.url} does not speak this gateway's contract.`)

/** Statuses that say what is wrong without a body that can be read. */
const tellingStatuses: ReadonlySet<number> = new Set([400, 401, 403, 404, 408, 413, 415, 422, 429])

/** An answer of a status that the contract does not have there, such as one of a proxy in front. */
const ofResponse = (to: Target, { headers, status }: HttpClientResponse.HttpClientResponse): CliFailure => {
  if (!tellingStatuses.has(status) && status < 500) return notOurs(to)
  const facts = { status, code: null, wasSentOn: false, isOurs: headers[versionHeader] !== undefined }
  return failureOf(to, refusalOf(facts, to.apiKey !== null), `${to.url} answered with the status ${status}.`)
}

/** Errors of the contract that a person is advised about. */
const statusOfTag: Readonly<Record<string, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  BadRequest: 400,
  NotFound: 404,
  Unprocessable: 422,
  TooManyRequests: 429
}

const codeIn = (error: unknown): string | null =>
  Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : null

const wordsOf = (to: Target, refusal: Refusal, error: unknown): string => {
  if (refusal === "keyMissing" && to.apiKey === null) return `The gateway at ${to.url} asks for a key.`
  return refusal === "keyUnknown" ? `The gateway at ${to.url} does not accept this key.` : messageOf(error)
}

/**
 * Converts a failed call to a failure for the person at the command line. One that is written for people already stays.
 */
export const explain =
  (to: Target) =>
  (error: unknown): CliFailure => {
    if (isTagged(error) && isCliFailure(error)) return error
    const tag = isTagged(error) ? error._tag : ""
    const status = statusOfTag[tag]
    if (status !== undefined) {
      const facts = { status, code: codeIn(error), wasSentOn: false, isOurs: true }
      const refusal = refusalOf(facts, to.apiKey !== null)
      return failureOf(to, refusal, wordsOf(to, refusal, error))
    }
    switch (tag) {
      case "PreconditionFailed":
        return changedMeanwhile(to, Predicate.hasProperty(error, "current") ? error.current : undefined)
      case "RequestError":
        return failureOf(to, "offline", `No gateway answers at ${to.url}.`)
      case "ResponseError":
        return error instanceof HttpClientError.ResponseError ? ofResponse(to, error.response) : notOurs(to)
      case "ParseError":
      case "HttpApiDecodeError":
        return notOurs(to)
      default:
        return new CommandFailed({ message: messageOf(error) })
    }
  }

type GroupsOf<Api> = Api extends HttpApi.HttpApi<infer _Id, infer Groups, infer _E, infer _R> ? Groups : never
export type Groups = GroupsOf<typeof GatewayApi>
export type GroupName = HttpApiGroup.HttpApiGroup.Name<Groups>

const loadGroup: { readonly [N in GroupName]: () => Promise<HttpApiGroup.HttpApiGroup.Any> } = groups

/** The client of one group of the management contract. `headers` and `query` are sent with every call. */
export const group = <const N extends GroupName>(to: Target, name: N, headers?: Texts, query?: Texts) =>
  Effect.flatMap(loadModule(loadGroup[name]), (loaded) => {
    const api = withCommonErrors(HttpApi.make("gateway").add(loaded))
    return HttpApiClient.group(
      // It has this group, which is all that the client of the group reads.
      api as unknown as typeof GatewayApi,
      {
        group: name,
        httpClient: httpClient(to, headers, query),
        baseUrl: to.url
      }
    )
  })

/** The models that clients can ask for. */
const models = HttpApiEndpoint.get("models", "/v1/models").addSuccess(ModelList)
const inferenceApi = withCommonErrors(HttpApi.make("gateway").add(HttpApiGroup.make("inference").add(models)))

export const inference = (to: Target) =>
  HttpApiClient.group(inferenceApi, { group: "inference", httpClient: httpClient(to), baseUrl: to.url })

/** Result of a question. */
export interface ModelReply {
  readonly status: number
  readonly requestId: string | null
  readonly answer: string | null
  /** Null when it was answered. */
  readonly error: string | null
  readonly facts: ErrorFacts
}

/** The text at a path of a value; null when there is none. */
export const textAt = (body: unknown, ...path: ReadonlyArray<string | number>): string | null => {
  let value: unknown = body
  for (const step of path) value = Predicate.isRecord(value) || Array.isArray(value) ? Reflect.get(value, step) : null
  return typeof value === "string" ? value : null
}

/** Longer than the gateway itself waits for a provider. */
const patience = "60 seconds"

/** Converts the failures of a call to text for the person, and gives up on a gateway that never answers. */
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
export const ask = (to: Target, body: unknown): Effect.Effect<ModelReply, CliFailure> =>
  httpClient(to)
    .execute(HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(`${to.url}/v1/chat/completions`), body))
    .pipe(
      Effect.flatMap((response) =>
        Effect.map(response.json, (answer): ModelReply => {
          const { headers, status } = response
          const isAnswer = status >= 200 && status < 300
          return {
            status,
            requestId: headers["x-gateway-request-id"] ?? null,
            answer: isAnswer ? textAt(answer, "choices", 0, "message", "content") : null,
            error: isAnswer ? null : (textAt(answer, "error", "message") ?? `The status is ${status}.`),
            facts: errorFactsOf(response, answer)
          }
        })
      ),
      Effect.scoped,
      orExplain(to)
    )

/** Reads the facts of an answer with an error status, in any of the gateway's wires. */
export const errorFactsOf = (
  { headers, status }: Pick<HttpClientResponse.HttpClientResponse, "headers" | "status">,
  body: unknown
): ErrorFacts => {
  const error = Predicate.hasProperty(body, "error") ? body.error : null
  const attempts = Predicate.hasProperty(error, "attempts") ? error.attempts : null
  return {
    status,
    code: codeIn(error),
    wasSentOn: Array.isArray(attempts) && attempts.length > 0,
    isOurs: headers[versionHeader] !== undefined
  }
}

const forbiddenByContent = "'gateway logs' shows the request, and why it was refused."
const whatIsConnected = "'gateway status' and 'gateway provider list' show what is connected."

/** The failure that an answer with an error status is, where a model was asked. `hint` says what to do about a wrong request. */
export const refused = (
  to: Target,
  facts: ErrorFacts,
  message: string,
  hint: string | null = "'gateway model list' shows what can be asked."
): CliFailure => {
  const refusal = refusalOf(facts, to.apiKey !== null)
  switch (refusal) {
    // A plugin or a provider says so in its own words and with a code of its own: no key changes that.
    case "forbidden":
      return new CommandFailed({ message, hint: forbiddenByContent })
    case "failed":
      return new CommandFailed({ message, hint: whatIsConnected })
    case "badRequest":
      if (facts.status === 409 || tellingStatuses.has(facts.status)) break
      return new CommandFailed({ message, hint: whatIsConnected })
  }
  if (facts.status === 409) return new CommandFailed({ message, hint: hint ?? whatIsConnected })
  return failureOf(to, refusal, message, hint)
}
