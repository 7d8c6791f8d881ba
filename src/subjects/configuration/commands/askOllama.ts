/** Asks a server of Ollama for its models. */
import * as Effect from "effect/Effect"
import type { Imported } from "../../declared/imports/Imported.ts"
import { readOllama } from "../../declared/imports/Ollama.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { boundedText } from "../../../cli/gateway/BoundedText.ts"
import * as NodeHttp from "../../../cli/gateway/NodeHttp.ts"

const patience = "10 seconds"
const maxAnswerBytes = 4 * 1_048_576

const unusable = (message: string): BadArgument =>
  new BadArgument({
    message,
    hint: "Start it with 'ollama serve', or name its address: gateway import ollama http://host:11434"
  })

export const askOllama = (baseUrl: string): Effect.Effect<Imported, BadArgument> =>
  Effect.gen(function* () {
    const { status, text } = yield* NodeHttp.client.get(`${baseUrl}/api/tags`).pipe(
      Effect.flatMap((response) =>
        Effect.map(boundedText(baseUrl, response, maxAnswerBytes), (body) => ({ status: response.status, text: body }))
      ),
      Effect.scoped,
      Effect.timeout(patience),
      Effect.mapError((error) =>
        unusable(error._tag === "CommandFailed" ? error.message : `No Ollama answers at ${baseUrl}.`)
      )
    )
    const found = status === 200 ? readOllama(text, baseUrl) : null
    if (found === null) return yield* unusable(`What answers at ${baseUrl} is no Ollama (status ${status}).`)
    return found
  })
