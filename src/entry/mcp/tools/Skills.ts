/** The page of an agent skill, with what is known of it; and a code block of such a page, run. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { SkillView } from "../../../subjects/skills/routes.ts"
import { field } from "../../../kernel/Documented.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"
import type { BlockFailed, BlocksBusy, SkillBlocks } from "../../../subjects/skills/service.ts"
import { isManager } from "../../../agents/mcp/Caller.ts"
import type { Tool, ToolCall } from "../../../agents/mcp/Tool.ts"
import { blockLimits, type CodeBlock, codeBlocks, isJavaScript } from "../../../agents/skills/CodeBlocks.ts"
import { objectOr, stringOr } from "../../../wire/json/Json.ts"
import type { Plane } from "../../management/Management.ts"
import { errorTextOf } from "../EndpointTool.ts"
import { askedOf, refusedBy, schemaTool, ToolFailure } from "../SchemaTool.ts"

/** Fetches the page as the management answers it to the caller. */
const pageOf = (ask: Plane["ask"], id: string, { caller: { ip, principal } }: ToolCall) =>
  Effect.flatMap(
    ask({ key: "agentSkills.raw", path: { id }, query: {}, caller: { principal, ip, body: null } }),
    ({ body, status }) => {
      const page = stringOr(body)
      if (status < 400 && page !== null) return Effect.succeed(page)
      return status < 400
        ? new ToolFailure({ message: "The page could not be made." })
        : refusedBy(status, errorTextOf(status, body))
    }
  )

export const skillTool = (ask: Plane["ask"]): Tool =>
  schemaTool({
    name: "agent_skills_get",
    title: "Read an agent skill",
    description:
      "The page of a skill: how to use or operate a part of this gateway, with examples that work as they stand.",
    scopes: ["read:catalog"],
    effect: "read",
    input: Schema.Struct({
      id: field(
        Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(64)),
        "Id of the skill, as the list has it.",
        "gw-providers"
      )
    }),
    output: Schema.Struct({
      skill: field(SkillView, "What is known of it."),
      page: field(Schema.String, "Its page, in Markdown.")
    }),
    run: ({ id }, call) =>
      Effect.gen(function* () {
        const { skill } = yield* askedOf(ask, call)("agentSkills.get", { path: { id } })
        return { skill: objectOr(skill), page: yield* pageOf(ask, id, call) }
      })
  })

const failureOf = (error: BlockFailed | BlocksBusy): ToolFailure => {
  if (error._tag === "BlocksBusy") {
    return new ToolFailure({ message: `${error.most} code blocks run already. Try again when one of them is done.` })
  }
  const { message, output } = error
  const written = output.length === 0 ? "" : ` It wrote before: ${output.join("\n").slice(0, mostShownChars)}`
  return new ToolFailure({ message: `The block failed: ${asSentence(message)}${written}` })
}

/** Most characters shown of the output of a block that failed. */
const mostShownChars = 2_000

const badBlock = (message: string) => new ToolFailure({ message, isBadInput: true })

/** The block that is meant; a failure that says why it cannot be run. */
const blockOf = (id: string, number: number, page: string): Effect.Effect<CodeBlock, ToolFailure> => {
  const blocks = codeBlocks(page)
  const block = blocks[number - 1]
  if (block === undefined) {
    return badBlock(
      `'block': the page of ${id} has ${blocks.length} code blocks, numbered from 1; there is no ${number}.`
    )
  }
  if (isJavaScript(block)) return Effect.succeed(block)
  const language = block.language === "" ? "names no language" : `is written in '${block.language}'`
  return badBlock(
    `'block': block ${number} of ${id} ${language}. Only JavaScript is run here (a fence with js, javascript or mjs); run others in a shell of your own.`
  )
}

const notManager =
  "Code blocks are run for who manages the gateway only: the admin key, or a key with the scope 'manage' or 'admin'."

/** A block may be anything that its author wrote, so the flag that frees keys of scopes does not free this. */
export const runSkillTool = (ask: Plane["ask"], run: typeof SkillBlocks.Service.run): Tool =>
  schemaTool({
    name: "skills_execute",
    title: "Run a code block of a skill",
    description:
      "Runs a JavaScript code block of a skill's page in a sandbox, as the body of an async function, and shows what it returned and wrote. It has no files and programs, 10 seconds and 32 MB; `fetch` only while the flag SKILLS_SANDBOX_NETWORK_ENABLED is on.",
    scopes: ["admin"],
    effect: "destroy",
    isIdempotent: false,
    isOpenWorld: true,
    input: Schema.Struct({
      id: field(
        Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(64)),
        "Id of the skill, as the list has it.",
        "gw-providers"
      ),
      block: field(
        Schema.Int.pipe(Schema.between(1, blockLimits.blocks)),
        "Number of the code block in its page, from 1.",
        1
      )
    }),
    output: Schema.Struct({
      value: field(Schema.Unknown, "What it returned; null: nothing."),
      output: field(Schema.Array(Schema.String), "What it wrote, a text for each call of console."),
      hadNetwork: field(Schema.Boolean, "Whether it had the network."),
      durationMs: field(Schema.Number, "How long it ran, in milliseconds.")
    }),
    run: ({ block: number, id }, call) =>
      Effect.gen(function* () {
        if (!isManager(call.caller)) return yield* new ToolFailure({ message: notManager })
        const block = yield* blockOf(id, number, yield* pageOf(ask, id, call))
        const { durationMs, hadNetwork, output, value } = yield* Effect.mapError(run(block.text), failureOf)
        return { value, output, hadNetwork, durationMs: Math.round(durationMs) }
      })
  })
