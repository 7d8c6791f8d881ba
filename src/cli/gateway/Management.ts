/** The management API with bodies as they are in a file: what is sent is checked by the gateway, and its words are shown. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Effect from "effect/Effect"
import { isObject, type JsonObject, objectOr, parseJson, stringOr } from "../../subjects/declared/Values.ts"
import { BadArgument, type CliFailure, CommandFailed } from "../Failure.ts"
import { type ErrorFacts, refusalOf } from "./Advice.ts"
import * as Client from "./Client.ts"

/** The failure that an answer with an error status is, in the gateway's words. */
export const refusal = (to: Client.Target, facts: ErrorFacts, body: JsonObject): CliFailure => {
  const { status } = facts
  // What the typed client says of this is more than the body does.
  if (status === 401 && facts.isOurs) return Client.explain(to)({ _tag: "Unauthorized" })
  const message = stringOr(objectOr(body["error"])["message"]) ?? `The gateway answered with the status ${status}.`
  if (status === 409) return new BadArgument({ message })
  if (status >= 500) return new CommandFailed({ message })
  return Client.failureOf(to, refusalOf(facts, to.apiKey !== null), message)
}

/** The answer; an empty object where there is none. */
export const manage = (
  to: Client.Target,
  method: HttpMethod,
  path: string,
  body?: JsonObject,
  within?: "1 hour"
): Effect.Effect<JsonObject, CliFailure> =>
  Effect.gen(function* () {
    const plain = HttpClientRequest.make(method as "GET")(`${to.url}${path}`)
    const request =
      body === undefined ? plain : HttpClientRequest.bodyText(plain, JSON.stringify(body), "application/json")
    const response = yield* Client.httpClient(to).execute(request)
    const text = yield* response.text
    const answer = text === "" ? {} : parseJson(text)
    return { facts: Client.errorFactsOf(response, answer), answer }
  }).pipe(
    Client.orExplain(to, within),
    Effect.flatMap(({ answer, facts }): Effect.Effect<JsonObject, CliFailure> => {
      const value = isObject(answer) ? answer : {}
      if (facts.status < 400) return Effect.succeed(value)
      return Effect.fail(refusal(to, facts, value))
    })
  )
