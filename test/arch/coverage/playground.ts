/** Where each statement on the playground is shown. */
import { type StatementRow, statement } from "./Statement.ts"

const access = "test/http/playground/access.test.ts"
const presets = "test/http/playground/presets.test.ts"
const improve = "test/http/playground/improve.test.ts"
const compare = "test/http/playground/compare.test.ts"
const snippets = "test/http/playground/snippets.test.ts"
const commands = "test/http/playground/commands.test.ts"
const captured = "test/http/playground/captured.test.ts"
const metrics = "test/unit/domain/AnswerMetrics.test.ts"

export const playgroundRows: ReadonlyArray<StatementRow> = [
  statement("The backend stores named presets: id, name, endpoint, model, system, params_json and created_at", [
    presets,
    "are made, listed, shown, changed in part and removed",
    "are there after a restart"
  ]),
  statement("A preset's endpoint is one of ten", [presets, "have every one of the ten endpoints, and no other"]),
  statement("The model is free text, the parameters are the seven that are named, and what is wrong is refused", [
    presets,
    "are refused with the field that is wrong, and nothing of them is kept"
  ]),
  statement("Presets are listed, created, shown, changed in part and deleted (204); an unknown one is 404", [
    presets,
    "are made, listed, shown, changed in part and removed",
    "that do not exist are 404, whatever is asked of them"
  ]),
  statement("Presets are bounded, those of one caller by a number of their own, and changed by who has made them", [
    presets,
    "are at most 500",
    "of one key are a hundred at most, and are changed by nobody but it and who manages"
  ]),
  statement("A comparison runs one prompt over up to four models in parallel", [
    compare,
    "streams each model's answer in its column, and one that fails disturbs no other",
    "asks all its models at once",
    "is refused with five models, none, the same twice, and without or with two prompts"
  ]),
  statement("Who leaves a comparison ends all its calls", [compare, "that is left ends all calls of upstreams"]),
  statement("Each column is the caller's own request: limits apply, and each has a usage row", [
    compare,
    "keeps to the limits of the caller's key, column by column",
    "is for keys that may chat"
  ]),
  statement("A prompt is improved by a chat request of the gateway's own, whose answer is checked", [
    improve,
    "is what the model answers, with its tokens and a usage row",
    "is refused with the field that is wrong"
  ]),
  statement("The improved system prompt is there only where one was sent", [
    improve,
    "has a system prompt only where one was sent"
  ]),
  statement("Placeholders are kept", [improve, "is asked for once more where a placeholder is lost, and then is 502"]),
  statement("A missing model is a 502", [
    improve,
    "is 502 where the model is missing, unknown, failing, or says something else"
  ]),
  statement(
    "Snippets for curl, Python and TypeScript always hold `$GATEWAY_API_KEY`, and run as they are",
    [
      snippets,
      "work with curl",
      "work with Python",
      "work with TypeScript",
      "of music and searches work with ${language}",
      "work with texts that are longer than an argument of a program can be",
      "work where the key is put in the place of its placeholder"
    ],
    [
      "test/property/playground/literals.test.ts",
      "as a literal is the same text to JavaScript and to JSON, in ASCII and characters that are seen",
      "within a value is the same value to Python",
      "as a word of a shell is the same word"
    ],
    [
      "test/property/playground/programs.test.ts",
      "is the same value to Node, whatever its members are called",
      "is the same value to Python, whatever its members are called",
      "is the same word to a shell, but for what no word can hold",
      "is what curl is given by a whole command"
    ]
  ),
  statement("Time to the first token, tokens per second, token counts and a cost that is marked as an estimate", [
    metrics,
    "take the speed from the first token to the end",
    "are one line for people, whose cost is marked as an estimate"
  ]),
  statement("Authentication is optional and follows `REQUIRE_API_KEY`", [
    access,
    "is open to anybody on this address while no key is required",
    "needs a key where inference needs one"
  ]),
  statement("Requests of other sites are refused, and bodies that are not JSON", [access, "takes bodies only as JSON"]),
  statement("A captured request is opened as a preset", [
    captured,
    "makes a preset of a captured request of each wire, which can be kept as it is"
  ]),
  statement("The same by commands", [
    commands,
    "keeps presets: add, list, show, edit, remove",
    "compares models: as JSON, and as plain text in a pipe",
    "draws the columns while they come, and at last all of them",
    "improves a prompt, and prints snippets"
  ])
]
