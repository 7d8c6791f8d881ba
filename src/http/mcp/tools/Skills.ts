/** The page of an agent skill, with what is known of it. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { SkillView } from "../../../api/Groups/AgentSkills.ts"
import { field } from "../../../kernel/Documented.ts"
import type { Tool } from "../../../mcp/Tool.ts"
import { objectOr, stringOr } from "../../../wire/json/Json.ts"
import type { Plane } from "../../Management.ts"
import { askedOf, schemaTool, ToolFailure } from "../SchemaTool.ts"

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
        const caller = { principal: call.caller.principal, ip: call.caller.ip, body: null }
        const { body } = yield* ask({ key: "agentSkills.raw", path: { id }, query: {}, caller })
        const page = stringOr(body)
        if (page === null) return yield* new ToolFailure({ message: "The page could not be made." })
        return { skill: objectOr(skill), page }
      })
  })
