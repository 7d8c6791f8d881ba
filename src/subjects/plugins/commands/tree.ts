/** The commands about plugins. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { list, remove } from "../../../cli/tree/verbs.ts"

const plugin = group(
  "plugin",
  "Your own code at events of requests, in a sandbox.",
  [
    command(
      "new",
      "Begin a plugin: files that work, types and a test.",
      () => import("./author.ts"),
      (m) => m.pluginNew,
      { examples: ["plugin new my-plugin"] }
    ),
    command(
      "check",
      "Check a plugin's manifest, files and code.",
      () => import("./author.ts"),
      (m) => m.pluginCheck,
      { examples: ["plugin check my-plugin", "plugin check my-plugin --json"] }
    ),
    command(
      "test",
      "Run a plugin's tests in the sandbox of the gateway.",
      () => import("./author.ts"),
      (m) => m.pluginTest,
      { examples: ["plugin test my-plugin"] }
    ),
    command(
      "pack",
      "Write a plugin into one file.",
      () => import("./author.ts"),
      (m) => m.pluginPack,
      { examples: ["plugin pack my-plugin", "plugin pack my-plugin --to my-plugin.json"] }
    ),
    command(
      "install",
      "Install a folder, a packed file or a name of the marketplace.",
      () => import("./manage.ts"),
      (m) => m.pluginInstall,
      {
        examples: [
          "plugin install my-plugin --activate",
          "plugin install cost-tracker --activate --grant file-read --grant file-write"
        ]
      }
    ),
    command(
      "list",
      "List the installed plugins.",
      () => import("./manage.ts"),
      (m) => m.pluginList,
      { ...list, examples: ["plugin list"] }
    ),
    command(
      "show",
      "Show a plugin: its events, permissions and calls.",
      () => import("./manage.ts"),
      (m) => m.pluginShow,
      { examples: ["plugin show rate-limiter"] }
    ),
    command(
      "activate",
      "Call a plugin from now on.",
      () => import("./manage.ts"),
      (m) => m.pluginActivate,
      {
        examples: ["plugin activate rate-limiter", "plugin activate cost-tracker --grant file-read --grant file-write"]
      }
    ),
    command(
      "deactivate",
      "Call a plugin no more.",
      () => import("./manage.ts"),
      (m) => m.pluginDeactivate,
      { examples: ["plugin deactivate rate-limiter"] }
    ),
    command(
      "config",
      "Show or change a plugin's settings.",
      () => import("./manage.ts"),
      (m) => m.pluginConfig,
      { examples: ["plugin config rate-limiter", "plugin config rate-limiter perMinute=10 header=x-team"] }
    ),
    command(
      "logs",
      "Show what a plugin wrote.",
      () => import("./manage.ts"),
      (m) => m.pluginLogs,
      { examples: ["plugin logs request-logger", "plugin logs request-logger --follow"] }
    ),
    command(
      "marketplace",
      "List plugins that can be installed by name.",
      () => import("./manage.ts"),
      (m) => m.pluginMarketplace,
      { examples: ["plugin marketplace"] }
    ),
    command(
      "scan",
      "Take over folders of plugins, and look for changed files.",
      () => import("./manage.ts"),
      (m) => m.pluginScan,
      { examples: ["plugin scan"] }
    ),
    command(
      "remove",
      "Remove a plugin with its data and settings.",
      () => import("./manage.ts"),
      (m) => m.pluginRemove,
      { ...remove, examples: ["plugin remove rate-limiter"] }
    )
  ],
  {
    section: "Watch",
    skill: "cli-plugins-skills",
    besides: true,
    aliases: ["plugins"],
    examples: ["plugin new my-plugin", "plugin marketplace", "plugin install rate-limiter --activate"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [plugin]
