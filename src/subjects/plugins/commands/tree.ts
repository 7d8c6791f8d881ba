/** The commands about plugins. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { list, remove } from "../../../cli/tree/verbs.ts"

const fromAuthor = from(() => import("./author.ts"))
const fromManage = from(() => import("./manage.ts"))

const plugin = group(
  "plugin",
  "Your own code at events of requests, in a sandbox.",
  [
    fromAuthor("new", "pluginNew", "Begin a plugin: files that work, types and a test.", {
      examples: ["plugin new my-plugin"]
    }),
    fromAuthor("check", "pluginCheck", "Check a plugin's manifest, files and code.", {
      examples: ["plugin check my-plugin", "plugin check my-plugin --json"]
    }),
    fromAuthor("test", "pluginTest", "Run a plugin's tests in the sandbox of the gateway.", {
      examples: ["plugin test my-plugin"]
    }),
    fromAuthor("pack", "pluginPack", "Write a plugin into one file.", {
      examples: ["plugin pack my-plugin", "plugin pack my-plugin --to my-plugin.json"]
    }),
    fromManage("install", "pluginInstall", "Install a folder, a packed file or a name of the marketplace.", {
      examples: [
        "plugin install my-plugin --activate",
        "plugin install cost-tracker --activate --grant file-read --grant file-write"
      ]
    }),
    fromManage("list", "pluginList", "List the installed plugins.", { ...list, examples: ["plugin list"] }),
    fromManage("show", "pluginShow", "Show a plugin: its events, permissions and calls.", {
      examples: ["plugin show rate-limiter"]
    }),
    fromManage("activate", "pluginActivate", "Call a plugin from now on.", {
      examples: ["plugin activate rate-limiter", "plugin activate cost-tracker --grant file-read --grant file-write"]
    }),
    fromManage("deactivate", "pluginDeactivate", "Call a plugin no more.", {
      examples: ["plugin deactivate rate-limiter"]
    }),
    fromManage("config", "pluginConfig", "Show or change a plugin's settings.", {
      examples: ["plugin config rate-limiter", "plugin config rate-limiter perMinute=10 header=x-team"]
    }),
    fromManage("logs", "pluginLogs", "Show what a plugin wrote.", {
      examples: ["plugin logs request-logger", "plugin logs request-logger --follow"]
    }),
    fromManage("marketplace", "pluginMarketplace", "List plugins that can be installed by name.", {
      examples: ["plugin marketplace"]
    }),
    fromManage("scan", "pluginScan", "Take over folders of plugins, and look for changed files.", {
      examples: ["plugin scan"]
    }),
    fromManage("remove", "pluginRemove", "Remove a plugin with its data and settings.", {
      ...remove,
      examples: ["plugin remove rate-limiter"]
    })
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
