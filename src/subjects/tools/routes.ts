/** Coding tools on the gateway's machine (docs/tools.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { exactOptional, field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../../contract/Errors.ts"
import { exampleKeyId, exampleTime } from "../../contract/Examples.ts"
import { body, HttpUrl, optional, Text } from "../../contract/Inputs.ts"

export const CliToolView = Schema.Struct({
  id: field(Schema.String, "Id of the tool, in paths of this API.", "claude"),
  name: field(Schema.String, "Its name.", "Claude Code"),
  color: field(Schema.String, "A colour for pages.", "#d97757"),
  description: field(Schema.String, "What it is.", "Coding agent in the terminal."),
  docsUrl: field(Schema.String, "Its documentation.", "https://docs.anthropic.com/en/docs/claude-code"),
  vendor: field(Schema.String, "Who makes it.", "Anthropic"),
  category: field(Schema.Literal("code", "agent"), "What it is for.", "code"),
  acpSpawnable: field(Schema.Boolean, "Whether other programs can start it as an agent.", true),
  baseUrlSupport: field(
    Schema.Literal("full", "partial", "none"),
    "Whether it takes the address of a gateway.",
    "full"
  ),
  configType: field(
    Schema.Literal("env", "custom", "guide", "custom-builder", "mitm"),
    "How it is configured: variables, files of its own, by its own pages, a template, or not at all.",
    "env"
  ),
  setupCommand: field(
    Schema.NullOr(Schema.String),
    "The command that sets it up; null: there is none.",
    "gateway setup-claude"
  ),
  risks: field(Schema.Array(Schema.String), "What to know before.", [])
}).annotations({ identifier: "CliTool" })
export type CliToolView = typeof CliToolView.Type

export const DetectionView = Schema.Struct({
  installed: field(Schema.Boolean, "Whether its program was found.", true),
  runnable: field(Schema.Boolean, "Whether it answered `--version`.", true),
  version: field(exactOptional(Schema.String), "Its version; absent: unknown.", "2.1.197"),
  command: field(exactOptional(Schema.String), "Name of its program.", "claude"),
  commandPath: field(exactOptional(Schema.String), "Where it is.", "/usr/local/bin/claude"),
  reason: field(exactOptional(Schema.String), "Why it is not installed or not runnable.", "is not on the PATH")
}).annotations({ identifier: "CliToolDetection" })
export type DetectionView = typeof DetectionView.Type

export const ToolStatusView = Schema.Struct({
  detection: field(DetectionView, "What was found of its program."),
  config: field(
    Schema.Struct({
      status: field(
        Schema.Literal("configured", "not_configured", "not_installed", "unknown", "other"),
        "`configured`: it uses this gateway; `other`: another one.",
        "configured"
      ),
      endpoint: field(exactOptional(Schema.String), "The address in its file.", "http://127.0.0.1:20128"),
      lastConfiguredAt: field(exactOptional(Schema.String), "When its file was changed, ISO 8601.", exampleTime)
    }),
    "What its files say."
  ),
  error: field(exactOptional(Schema.String), "Why its files could not be read.", "~/.claude/settings.json is a folder.")
}).annotations({ identifier: "CliToolStatus" })
export type ToolStatusView = typeof ToolStatusView.Type

const FileState = Schema.Struct({
  path: field(Schema.String, "Where it is.", "/people/ada/.claude/settings.json"),
  exists: field(Schema.Boolean, "Whether it is there.", true),
  values: field(
    Schema.Record({ key: Schema.String, value: Schema.Unknown }),
    "What stands at the places that setting up writes; keys are masked.",
    { "env.ANTHROPIC_BASE_URL": "http://127.0.0.1:20128" }
  )
}).annotations({ identifier: "CliToolFile" })

export const ToolSettingsView = Schema.Struct({
  tool: field(Schema.String, "Id of the tool.", "claude"),
  configured: field(Schema.Boolean, "Whether the gateway or `gateway setup-<tool>` has set it up.", true),
  keyId: field(Schema.NullOr(Schema.String), "Id of the key that was made for it; null: none was.", exampleKeyId),
  files: field(Schema.Array(FileState), "Its files; empty: it has none.")
}).annotations({ identifier: "CliToolSettings" })
export type ToolSettingsView = typeof ToolSettingsView.Type

export const WriteToolSettings = Schema.Struct({
  model: field(optional(Text.pipe(Schema.maxLength(300))), "The model it begins with; absent: `auto`.", "auto"),
  apiKeyId: field(
    optional(Text.pipe(Schema.maxLength(100))),
    "Id of a key whose rules the key of the tool gets; absent: it may use the models that the tool is told of. Secrets are not kept, so that the tool always has a key of its own.",
    exampleKeyId
  ),
  baseUrl: field(
    optional(HttpUrl),
    "Address of the gateway; absent: the one of this request.",
    "http://127.0.0.1:20128"
  )
}).annotations(body("WriteCliToolSettings"))
export type WriteToolSettings = typeof WriteToolSettings.Type

const at = endpointsOf("cliTools", {
  id: ["Id of the tool.", "claude"],
  tool: ["Id of a tool that `gateway setup-<tool>` knows.", "claude"]
})

export class CliTools extends HttpApiGroup.make("cliTools")
  .annotate(OpenApi.Title, "Coding tools")
  .annotate(OpenApi.Description, "Coding tools on the gateway's machine: which there are, and which use it.")
  .add(
    at("list", {
      summary: "List the coding tools",
      description: "All that the gateway knows, installed or not."
    }).addSuccess(Schema.Struct({ tools: field(Schema.Array(CliToolView), "The tools.") }))
  )
  .add(
    at("statuses", {
      summary: "Show which coding tools are installed",
      description:
        "By the id of the tool. Programs are asked for their version for 5 seconds at most, side by side, and once a minute; files are read when they were changed."
    }).addSuccess(
      Schema.Record({ key: Schema.String, value: ToolStatusView }).annotations({
        identifier: "CliToolStatuses",
        description: "The state of each tool, by its id.",
        examples: [
          {
            claude: {
              detection: { installed: true, runnable: true, version: "2.1.197", command: "claude" },
              config: { status: "configured", endpoint: "http://127.0.0.1:20128" }
            }
          }
        ]
      })
    )
  )
  .add(
    at("runtime", { summary: "Ask a coding tool for its version", description: "Asks it anew." })
      .addSuccess(DetectionView)
      .addError(NotFoundAnswer)
  )
  .add(
    at("settings", {
      summary: "Show how a coding tool is set up",
      description: "What stands in its files on the gateway's machine. Only from that machine."
    })
      .addSuccess(ToolSettingsView)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("writeSettings", {
      summary: "Set up a coding tool",
      description:
        "Makes a key for the tool and writes its files on the gateway's machine, as `gateway setup-<tool>` does; `gateway setup-<tool> --undo` takes it back. Only from that machine.",
      example: { model: "auto" }
    })
      .setPayload(WriteToolSettings)
      .addSuccess(
        Schema.Struct({
          success: field(Schema.Boolean, "Always true.", true),
          path: field(Schema.String, "The file with the key.", "/people/ada/.claude/settings.json"),
          backupPath: field(
            Schema.NullOr(Schema.String),
            "The copy of what was there; null: there was nothing, or nothing is changed.",
            "/people/ada/.claude/settings.json.20350101T000000000Z.gateway.bak"
          )
        }).annotations({ identifier: "WrittenCliTool" })
      )
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  ) {}
