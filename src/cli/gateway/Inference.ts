/** Asking the inference routes of a gateway, as clients do: a refusal is a failure in the gateway's own words. */
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type CliFailure, CommandFailed } from "../Failure.ts"
import * as Client from "./Client.ts"

/** Target that served an answer, by its headers; null: they do not name it. */
export interface ServedBy {
  readonly requestId: string | null
  readonly provider: string | null
  readonly model: string | null
  /** Cost in USD, where it was known before the answer. */
  readonly costUsd: number | null
}

export const servedBy = ({ headers }: HttpClientResponse.HttpClientResponse): ServedBy => {
  const cost = headers["x-gateway-response-cost"]
  return {
    requestId: headers["x-gateway-request-id"] ?? null,
    provider: headers["x-gateway-provider"] ?? null,
    model: headers["x-gateway-model"] ?? null,
    costUsd: cost === undefined || !/^\d+(?:\.\d+)?$/.test(cost) ? null : Number(cost)
  }
}

/** `provider/model`, or what is known of it; null: nothing is. */
export const servedName = ({ model, provider }: ServedBy): string | null =>
  provider === null ? model : `${provider}/${model ?? ""}`

const maxMessageChars = 2_000

const decodeBody = Schema.decodeOption(Schema.parseJson(Schema.Unknown))
const bodyOf = (text: string): unknown => Option.getOrNull(decodeBody(text))

/** The message of an error answer in any of the gateway's wires. */
export const messageIn = (text: string, status: number): string => {
  const body = bodyOf(text)
  const message = Client.textAt(body, "error", "message") ?? Client.textAt(body, "error")
  return (message ?? `The status is ${status}.`).slice(0, maxMessageChars)
}

const cut = (to: Client.Target) =>
  new CommandFailed({
    message: `The answer of ${to.url} broke off.`,
    hint: "Run the command again; 'gateway logs' shows what happened to the request."
  })

/** An answer whose head is there. Statuses of errors are failures; `hint` says what to do about a wrong request. */
export const ask = (
  to: Client.Target,
  request: HttpClientRequest.HttpClientRequest,
  hint?: string | null
): Effect.Effect<HttpClientResponse.HttpClientResponse, CliFailure> =>
  Client.httpClient(to)
    .execute(request)
    .pipe(
      Client.orExplain(to, "1 hour"),
      Effect.flatMap((response) =>
        response.status >= 200 && response.status < 300
          ? Effect.succeed(response)
          : response.text.pipe(
              Effect.mapError(() => cut(to)),
              Effect.flatMap((text) => {
                const facts = Client.errorFactsOf(response, bodyOf(text))
                return Effect.fail(Client.refused(to, facts, messageIn(text, response.status), hint))
              })
            )
      )
    )

/** The text of an answer. */
export const textOf = (to: Client.Target, response: HttpClientResponse.HttpClientResponse) =>
  Effect.mapError(response.text, () => cut(to))

/** An answer in JSON, read by a schema. */
export const jsonOf =
  <A, I>(to: Client.Target, schema: Schema.Schema<A, I>) =>
  (response: HttpClientResponse.HttpClientResponse): Effect.Effect<A, CliFailure> =>
    Effect.flatMap(textOf(to, response), (text) =>
      Effect.mapError(
        Schema.decode(Schema.parseJson(schema))(text),
        () =>
          new CommandFailed({
            message: `What ${to.url} answered is not what was asked for.`,
            hint: "Check that the address is a gateway's, and that both ends are of one version ('gateway status')."
          })
      )
    )
