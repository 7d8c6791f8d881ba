/** Agent skills: pages that tell an agent how to use and operate the gateway (docs/skills.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { skillIds } from "./entity.ts"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { NotFoundAnswer } from "../../contract/Errors.ts"
import { exampleTime } from "../../contract/Examples.ts"
import { body, optional } from "../../contract/Inputs.ts"

const Category = Schema.Literal("api", "cli")
const exampleSkill = "gw-providers"

export const SkillView = Schema.Struct({
  id: field(Schema.String, "Id of the skill, in paths of this API.", exampleSkill),
  name: field(Schema.String, "Its title.", "Gateway providers and connections"),
  description: field(Schema.String, "When an agent should read it.", "Connect AI providers to the gateway."),
  category: field(Category, "Whether it is about routes or about commands.", "api"),
  area: field(Schema.String, "What it is about, in a word or two.", "providers"),
  rawUrl: field(
    Schema.String,
    "Where its page is, on the address that was asked.",
    "http://127.0.0.1:20128/skills/gw-providers/SKILL.md"
  )
}).annotations({ identifier: "AgentSkill" })
export type SkillView = typeof SkillView.Type

const count = (what: string) =>
  Schema.Struct({
    have: field(Schema.Number, `How many ${what} there are.`, 22),
    total: field(Schema.Number, "How many there should be.", 22)
  })

const described = (what: string) =>
  Schema.Struct({
    have: field(Schema.Number, `How many ${what} a skill tells of.`, 170),
    total: field(Schema.Number, "How many there are.", 170),
    missing: field(Schema.Array(Schema.String), "Those that none tells of.", [])
  })

export const SkillCoverage = Schema.Struct({
  api: field(count("skills about routes"), "Skills about routes."),
  cli: field(count("skills about commands"), "Skills about commands."),
  totalSkills: field(Schema.Number, "How many skills there are.", 42),
  routes: field(described("management routes"), "Management routes."),
  commands: field(described("commands"), "Commands."),
  generatedAt: field(Schema.String, "When the pages were made, ISO 8601.", exampleTime)
}).annotations({ identifier: "AgentSkillCoverage" })
export type SkillCoverage = typeof SkillCoverage.Type

export const GenerateSkills = Schema.Struct({
  dryRun: field(optional(Schema.Boolean), "Only say what would be done. Default: false.", true),
  prune: field(optional(Schema.Boolean), "Remove folders among the skills that are none. Default: false.", false),
  onlyIds: field(
    optional(
      Schema.Array(Schema.Literal(...skillIds).annotations({ message: () => "must be the id of a skill" })).pipe(
        Schema.maxItems(skillIds.length)
      )
    ),
    "Ids of the skills; absent: all.",
    [exampleSkill]
  )
}).annotations(body("GenerateAgentSkills"))

const ids = (meaning: string, ...example: ReadonlyArray<string>) => field(Schema.Array(Schema.String), meaning, example)

export const GeneratedSkills = Schema.Struct({
  generated: ids("Whose file was written.", exampleSkill),
  unchanged: ids("Whose file was as it should be."),
  pruned: ids("Folders that were removed."),
  orphansDetected: ids("Folders among the skills that are none."),
  errors: field(
    Schema.Array(
      Schema.Struct({
        id: field(Schema.String, "Id of the skill, or name of the folder.", exampleSkill),
        message: field(Schema.String, "What went wrong.", "The disk is full.")
      })
    ),
    "What could not be written or removed.",
    []
  ),
  folder: field(Schema.String, "Where the files are, on the gateway's machine.", "/var/lib/gateway/skills")
}).annotations({ identifier: "AgentSkillsGenerated" })
export type GeneratedSkills = typeof GeneratedSkills.Type

const SkillsQuery = Schema.Struct({
  category: field(
    Schema.optionalWith(Category.annotations({ message: () => "must be api or cli" }), { exact: true }),
    "Only those about routes (`api`) or commands (`cli`).",
    "api"
  ),
  area: field(
    Schema.optionalWith(Schema.String.pipe(Schema.maxLength(64)), { exact: true }),
    "Only that of this area.",
    "providers"
  )
})

const Markdown = HttpApiSchema.Text({ contentType: "text/markdown" }).annotations({
  description: "The page, in Markdown.",
  examples: ["---\nname: gw-providers\n---\n"]
})

const at = endpointsOf("agentSkills", { id: ["Id of the skill.", exampleSkill] })

export class AgentSkills extends HttpApiGroup.make("agentSkills")
  .annotate(OpenApi.Title, "Agent skills")
  .annotate(OpenApi.Description, "Pages that tell an agent how to use and operate the gateway. Reading needs no key.")
  .add(
    at("list", { summary: "List the skills", description: "All of them, or those of a category or an area." })
      .setUrlParams(SkillsQuery)
      .addSuccess(Schema.Struct({ skills: field(Schema.Array(SkillView), "The skills.") }))
  )
  .add(
    at("coverage", {
      summary: "Show what the skills cover",
      description: "Counted from the routes and commands of the running program."
    }).addSuccess(SkillCoverage)
  )
  .add(
    at("get", { summary: "Show a skill", description: "What is known of it; its page is at `rawUrl`." })
      .addSuccess(Schema.Struct({ skill: field(SkillView, "The skill.") }))
      .addError(NotFoundAnswer)
  )
  .add(
    at("raw", { summary: "Read a skill", description: "Its page, made from the running program." })
      .addSuccess(Markdown)
      .addError(NotFoundAnswer)
  )
  .add(
    at("file", { summary: "Read a skill as a file", description: "The same page, under the name agents look for." })
      .addSuccess(Markdown)
      .addError(NotFoundAnswer)
  )
  .add(
    at("generate", {
      summary: "Write the skills as files",
      description:
        "Into the folder `skills` of the data folder. What stands between the markers of a file at its end is kept; a file that is as it should be is not touched."
    })
      .setPayload(GenerateSkills)
      .addSuccess(GeneratedSkills)
  ) {}
