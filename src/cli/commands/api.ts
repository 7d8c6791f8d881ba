/** `gateway api`: one call of the gateway's HTTP API, with the address and the credentials that the other commands use. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { statSync, readFileSync } from "node:fs"
import { harmlessJson, harmlessLines } from "../../kernel/text/TerminalText.ts"
import { isObject, objectOr, parseJson, stringOr } from "../../subjects/declared/Values.ts"
import { readInput } from "../asking/input.ts"
import { inSession, passwordFlag } from "../asking/session.ts"
import { BadArgument } from "../Failure.ts"
import { each, NamedAny, notOf } from "../flags/Forms.ts"
import * as Client from "../gateway/Client.ts"
import { refusal } from "../gateway/Management.ts"
import * as Output from "../output/Output.ts"
import { Stdout } from "../output/Stdout.ts"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] as const

/** Larger bodies are refused; the gateway itself may take less. */
const maxBodyBytes = 64 * 1_048_576

const flags = {
  method: Args.choice(
    methods.map((method) => [method, method] as const),
    { name: "method" }
  ).pipe(Args.withDescription(`One of ${methods.join(", ")}.`)),
  path: Args.text({ name: "path" }).pipe(
    Args.withDescription("Path of the gateway, such as /api/keys; docs/reference/http-api.md has them all.")
  ),
  data: Options.text("data").pipe(
    Options.withDescription("The body as JSON; @<file> reads it from a file, - from standard input."),
    Options.optional
  ),
  query: Options.text("query").pipe(
    Options.withDescription("A parameter of the address as name=value; may be given several times."),
    Options.repeated,
    Options.withSchema(each(NamedAny, notOf("--query", "name=value")))
  ),
  ...passwordFlag,
  ...Client.editing
}

/** The whole address; a path never leads to another host, nor out of the path at which a proxy serves the gateway. */
export const addressIn = (
  gateway: string,
  path: string,
  query: ReadonlyArray<readonly [string, string]>
): URL | null => {
  if (!path.startsWith("/") || !URL.canParse(`${gateway}${path}`)) return null
  const base = new URL(`${gateway}/`)
  const address = new URL(`${gateway}${path}`)
  if (address.origin !== base.origin || !address.pathname.startsWith(base.pathname)) return null
  for (const [name, value] of query) address.searchParams.append(name, value)
  address.hash = ""
  return address
}

const notThere = (path: string): BadArgument =>
  new BadArgument({
    message: `'${path}' is no path of the gateway.`,
    hint: "It begins with a slash, such as /api/keys. Another gateway is named by --url or --context."
  })

const tooLarge = (file: string): BadArgument =>
  new BadArgument({ message: `--data: '${file}' is larger than ${maxBodyBytes / 1_048_576} MiB.` })

const fileOf = (file: string): Effect.Effect<string, BadArgument> =>
  Effect.try({
    try: () => (statSync(file).size > maxBodyBytes ? null : readFileSync(file, "utf8")),
    catch: () => new BadArgument({ message: `--data: '${file}' cannot be read.` })
  }).pipe(Effect.flatMap((text) => (text === null ? tooLarge(file) : Effect.succeed(text))))

/** The body as it was given. What is sent is the text itself: numbers stay as they were written. */
const bodyOf = (data: string): Effect.Effect<string, BadArgument> =>
  Effect.gen(function* () {
    const text =
      data === "-"
        ? (yield* readInput(maxBodyBytes)).toString("utf8")
        : data.startsWith("@")
          ? yield* fileOf(data.slice(1))
          : data
    if (parseJson(text) === undefined) {
      return yield* new BadArgument({
        message: "--data: this is not valid JSON.",
        hint: "Put it between single quotes, or give it by a file: --data @body.json."
      })
    }
    return text
  })

const isJson = (headers: HttpClientResponse.HttpClientResponse["headers"]): boolean =>
  /^application\/(?:[\w.-]+\+)?json\b/i.test(headers["content-type"] ?? "")

/** Writes an answer that is no JSON as it comes. A terminal gets text only. */
const pass = (to: Client.Target, response: HttpClientResponse.HttpClientResponse) =>
  Effect.gen(function* () {
    const stdout = yield* Stdout
    const type = response.headers["content-type"] ?? ""
    const isShown = stdout.isTerminal()
    if (isShown && type !== "" && !/^text\/|json|xml/i.test(type)) {
      return yield* new BadArgument({
        message: `The answer is no text (${type}).`,
        hint: "Send it to a file: put > and a name behind the command."
      })
    }
    if (!isShown) {
      return yield* Stream.runForEach(response.stream, stdout.write).pipe(Effect.mapError(Client.explain(to)))
    }
    yield* response.stream.pipe(
      Stream.decodeText(),
      Stream.runForEach((text) => stdout.write(harmlessLines(text))),
      Effect.mapError(Client.explain(to))
    )
  })

/** Hint for the next command: the id of the object, else the path. */
const nameOf = (answer: unknown, path: string): string => {
  const [only, ...others] = Object.values(objectOr(answer))
  const object = others.length === 0 && isObject(only) ? only : objectOr(answer)
  return stringOr(object["id"]) ?? path
}

interface ApiCall {
  readonly method: (typeof methods)[number]
  readonly path: string
  readonly address: URL
  readonly body: string | undefined
}

const call = (
  to: Client.Target,
  { address, body, method, path }: ApiCall,
  headers?: Readonly<Record<string, string>>
) =>
  Effect.gen(function* () {
    const plain = HttpClientRequest.make(method)(address.href)
    const request = body === undefined ? plain : HttpClientRequest.bodyText(plain, body, "application/json")
    const response = yield* Client.httpClient(to, headers).execute(request).pipe(Client.orExplain(to))
    if (response.status >= 400) {
      const answer = objectOr(parseJson(yield* response.text.pipe(Client.orExplain(to))))
      const { current } = answer
      if (response.status === 412) return yield* Client.explain(to)({ _tag: "PreconditionFailed", current })
      return yield* refusal(to, Client.errorFactsOf(response, answer), answer)
    }
    if (method === "HEAD" || response.status === 204) return yield* Output.note(`The status is ${response.status}.`)
    if (!isJson(response.headers)) return yield* pass(to, response)
    const text = yield* response.text.pipe(Client.orExplain(to))
    const answer = parseJson(text)
    if (answer === undefined) return yield* Output.print(text)
    yield* Output.result({
      schema: Schema.Unknown,
      value: answer,
      text: Output.print(harmlessJson(answer, 2)),
      name: nameOf(answer, path)
    })
  })

export const apiCommand = Command.make("api", flags, (given) =>
  Effect.gen(function* () {
    if (given.passwordStdin && Option.contains(given.data, "-")) {
      return yield* new BadArgument({
        message: "--data - and --password-stdin both read standard input.",
        hint: "Give the body by a file: --data @body.json."
      })
    }
    const to = yield* Client.target(given)
    const address = addressIn(to.url, given.path, given.query)
    if (address === null) return yield* notThere(given.path)
    const body = Option.isSome(given.data) ? yield* bodyOf(given.data.value) : undefined
    const wanted: ApiCall = { method: given.method, path: given.path, address, body }
    if (!given.passwordStdin) return yield* call(to, wanted)
    return yield* inSession(to, true, (anonymous, headers) => call(anonymous, wanted, headers))
  })
)
