/** `gateway playground improve` and `snippet`. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Improved, ImprovePrompt, Snippets, WriteSnippets } from "../routes.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"
import { endpoint, model, params, prompt, readParams, readPrompt, system } from "./rows.ts"

const tone = Options.text("tone").pipe(
  Options.withDescription("How it is to sound, such as 'friendly'."),
  Options.optional
)

export const playgroundImprove = Command.make(
  "improve",
  { prompt, model, system, tone, ...Client.connection },
  (given) =>
    Effect.gen(function* () {
      const input = {
        prompt: yield* readPrompt(given.prompt),
        model: given.model,
        system: Option.getOrUndefined(given.system),
        tone: Option.getOrUndefined(given.tone)
      }
      const payload = yield* body(ImprovePrompt, input, {
        prompt: "<prompt>",
        model: "--model",
        system: "--system",
        tone: "--tone"
      })
      const to = yield* Client.target(given)
      const client = yield* Client.group(to, "playground")
      const answer = yield* client.improvePrompt({ payload }).pipe(Client.orExplain(to, "1 hour"))
      const { improvedPrompt, improvedSystem, tokensIn, tokensOut } = answer
      const text = Effect.gen(function* () {
        if (improvedSystem !== undefined) yield* Output.print(`${improvedSystem}\n`)
        yield* Output.print(improvedPrompt)
        yield* Output.note(`${tokensIn} tokens in, ${tokensOut} out.`)
      })
      yield* Output.result({ schema: Improved, value: answer, text, name: improvedPrompt })
    })
)

const languages = ["curl", "python", "typescript"] as const

const language = Options.choice("language", languages).pipe(
  Options.withDescription("curl, python or typescript."),
  Options.withDefault("curl" as const)
)

const asked = Options.text("prompt").pipe(Options.withDescription("What is asked."), Options.optional)

export const playgroundSnippet = Command.make(
  "snippet",
  {
    model,
    endpoint: endpoint.pipe(Options.withDefault("chat")),
    language,
    prompt: asked,
    system,
    params,
    ...Client.connection
  },
  (given) =>
    Effect.gen(function* () {
      const input = {
        model: given.model,
        endpoint: given.endpoint,
        system: Option.getOrUndefined(given.system),
        params: yield* readParams(given.params),
        messages: Option.match(given.prompt, {
          onNone: () => undefined,
          onSome: (content) => [{ role: "user", content }]
        })
      }
      const payload = yield* body(WriteSnippets, input, {
        model: "--model",
        endpoint: "--endpoint",
        messages: "--prompt",
        system: "--system"
      })
      const to = yield* Client.target(given)
      const client = yield* Client.group(to, "playground")
      const answer = yield* client.snippets({ payload }).pipe(Client.orExplain(to))
      const text = Effect.gen(function* () {
        yield* Output.print(answer[given.language].replace(/\n$/, ""))
        if (answer.omitted.length > 0) {
          yield* Output.note(`'${given.endpoint}' does not take ${answer.omitted.join(", ")}.`)
        }
      })
      yield* Output.result({ schema: Snippets, value: answer, text, name: given.language })
    })
)
