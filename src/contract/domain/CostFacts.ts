/** Facts besides counts of tokens on which the price of an answer depended, as they are stored and shown. */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"

const counted = (text: string, example: number) =>
  field(Schema.optionalWith(Schema.Number, { exact: true }), text, example)
const named = (text: string, example: string) =>
  field(Schema.optionalWith(Schema.String, { exact: true }), text, example)

export const CostFacts = Schema.Struct({
  serviceTier: named("The service tier that the answer named; absent: the usual one.", "flex"),
  speed: named("The speed that the answer named; absent: the usual one.", "fast"),
  geo: named("The place of inference that the answer named; absent: none with a price of its own.", "us"),
  modalities: field(
    Schema.optionalWith(
      Schema.Struct({
        audioIn: counted("Tokens of sound in the prompt.", 99_000),
        imageIn: counted("Tokens of pictures in the prompt.", 258),
        videoIn: counted("Tokens of film in the prompt.", 263),
        audioCached: counted("Those of sound that were read from the cache.", 0),
        imageCached: counted("Those of pictures that were read from the cache.", 0),
        videoCached: counted("Those of film that were read from the cache.", 0),
        audioOut: counted("Tokens of sound in the answer.", 1_200),
        imageOut: counted("Tokens of pictures in the answer.", 1_290),
        videoOut: counted("Tokens of film in the answer.", 0),
        citations: counted("Tokens of citations, beside those of the answer.", 0)
      }),
      { exact: true }
    ),
    "Tokens that are no text, each but citations a part of `tokens`."
  ),
  tools: field(
    Schema.optionalWith(
      Schema.Struct({
        webSearches: counted("Searches of the web that the provider made.", 2),
        groundedAnswers: counted("1 where the answer was grounded by searches.", 1),
        fileSearches: counted("Searches of the provider's store of files.", 0),
        codeExecutions: counted("Runs of code at the provider.", 0)
      }),
      { exact: true }
    ),
    "What the provider's own tools did."
  )
}).annotations({ identifier: "CostFacts" })
