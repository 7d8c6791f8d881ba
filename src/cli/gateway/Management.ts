/** The management API with bodies as they stand in a file: what is sent is checked by the gateway, and its words are shown. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import * as Effect from "effect/Effect"
import { isObject, type JsonObject, objectOr, parseJson, stringOr } from "../../declared/Values.ts"
import { BadArgument, type CliFailure, CommandFailed } from "../Failure.ts"
import * as Client from "./Client.ts"

const refusal = (status: number, body: JsonObject): CliFailure => {
  const message = stringOr(objectOr(body["error"])["message"]) ?? `The gateway answered with the status ${status}.`
  return status === 400 || status === 404 || status === 409
    ? new BadArgument({ message })
    : new CommandFailed({ message })
}

/** The answer; an empty object where there is none. */
export const manage = (
  to: Client.Target,
  method: HttpMethod,
  path: string,
  body?: JsonObject
): Effect.Effect<JsonObject, CliFailure> =>
  Effect.gen(function* () {
    const plain = HttpClientRequest.make(method as "GET")(`${to.url}${path}`)
    const request =
      body === undefined ? plain : HttpClientRequest.bodyText(plain, JSON.stringify(body), "application/json")
    const response = yield* Client.httpClient(to).execute(request)
    const text = yield* response.text
    return { status: response.status, answer: text === "" ? {} : parseJson(text) }
  }).pipe(
    Client.orExplain(to),
    Effect.flatMap(({ answer, status }): Effect.Effect<JsonObject, CliFailure> => {
      const value = isObject(answer) ? answer : {}
      if (status < 400) return Effect.succeed(value)
      // What the typed client says of this is more than the body does.
      return Effect.fail(status === 401 ? Client.explain(to)({ _tag: "Unauthorized" }) : refusal(status, value))
    })
  )
