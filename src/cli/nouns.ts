/** Every command but those that need the tree itself. Each noun with several commands has its own part. */
import { subjectCommands } from "./subjectCommands.generated.ts"
import { command, group, type TreeNode } from "./tree/Tree.ts"
import { list, remove } from "./tree/verbs.ts"
import { batches, chat, files, media, search } from "./commands/use/tree.ts"

const context = group(
  "context",
  "Gateways you are logged in to, and which one is used; see logout.",
  [
    command(
      "list",
      "List the logins.",
      () => import("./commands/context.ts"),
      (m) => m.contextList,
      { ...list, examples: ["context list"] }
    ),
    command(
      "show",
      "Show a login, or the one in use.",
      () => import("./commands/context.ts"),
      (m) => m.contextShow,
      { examples: ["context show"] }
    ),
    command(
      "add",
      "Log in to a gateway without using it yet.",
      () => import("./commands/login.ts"),
      (m) => m.contextAdd,
      { prints: false, examples: ["context add work https://gateway.example --key-stdin < key.txt"] }
    ),
    command(
      "use",
      "Choose the gateway that commands go to; 'local' is this machine's.",
      () => import("./commands/context.ts"),
      (m) => m.contextUse,
      { prints: false, examples: ["context use gateway.example", "context use local"] }
    ),
    command(
      "remove",
      "Forget a login without asking its gateway; 'logout' removes its key too.",
      () => import("./commands/context.ts"),
      (m) => m.contextRemove,
      { ...remove, prints: false, examples: ["context remove gateway.example"] }
    ),
    command(
      "combos",
      "List the compression combos; the same as 'compression combos'.",
      () => import("../subjects/compression/commands/combos.ts"),
      (m) => m.compressionCombos,
      { examples: ["context combos"] }
    )
  ],
  {
    section: "Settings",
    skill: "cli-contexts",
    besides: true,
    aliases: ["contexts"],
    examples: ["context list", "context use local"]
  }
)

const start = command(
  "start",
  "Start the service where it is installed, else serve here.",
  () => import("./commands/running.ts"),
  (m) => m.startCommand,
  { prints: false, examples: ["start"] }
)
const stop = command(
  "stop",
  "Stop the service, or the gateway that runs on this data folder.",
  () => import("./commands/running.ts"),
  (m) => m.stopCommand,
  { prints: false, examples: ["stop"] }
)
const restart = command(
  "restart",
  "Restart the service, or the gateway that runs on this data folder.",
  () => import("./commands/running.ts"),
  (m) => m.restartCommand,
  { prints: false, examples: ["restart"] }
)
/** The help of the program fits one screen without them; the group 'service' names them. */
const atTop = <Node extends TreeNode>(node: Node): Node => ({ ...node, section: "Start", hidden: true })
const inService = <Node extends TreeNode>(node: Node): Node => ({ ...node, examples: [`service ${node.name}`] })

const own: ReadonlyArray<TreeNode> = [
  atTop(start),
  atTop(stop),
  atTop(restart),
  command(
    "setup",
    "Set the admin password and connect a provider; see reset-password.",
    () => import("./commands/setup.ts"),
    (m) => m.setupCommand,
    {
      section: "Start",
      skill: "cli-setup",
      examples: ["setup", "setup --non-interactive --provider ollama"]
    }
  ),
  command(
    "serve",
    "Start the gateway, as 'gateway' alone does; see tunnel.",
    () => import("./commands/serve.ts"),
    (m) => m.serveCommand,
    {
      section: "Start",
      skill: "cli-serve",
      prints: false,
      examples: ["serve", "serve --port 8080 --no-open"]
    }
  ),
  group(
    "service",
    "Keep the gateway running as a systemd service of yours.",
    [
      inService(start),
      inService(stop),
      inService(restart),
      command(
        "install",
        "Write a systemd unit of your user, start it and enable it.",
        () => import("./commands/service.ts"),
        (m) => m.serviceInstall,
        {
          prints: false,
          examples: ["service install", "service install --port 8080", "service install --print"]
        }
      ),
      command(
        "status",
        "Show whether the service runs; exit 3 when it does not.",
        () => import("./commands/service.ts"),
        (m) => m.serviceStatus,
        { examples: ["service status", "service status --json"] }
      ),
      command(
        "uninstall",
        "Stop the service and remove its unit; the data stays.",
        () => import("./commands/service.ts"),
        (m) => m.serviceUninstall,
        { ...remove, prints: false, examples: ["service uninstall"] }
      )
    ],
    { section: "Start", skill: "cli-serve", examples: ["service install", "service status"] }
  ),
  command(
    "login",
    "Log in to a gateway elsewhere; see context and logout.",
    () => import("./commands/login.ts"),
    (m) => m.loginCommand,
    {
      section: "Start",
      skill: "cli-contexts",
      prints: false,
      examples: ["login https://gateway.example", "login https://gateway.example --key-stdin"]
    }
  ),
  command(
    "logout",
    "Remove the key of a login, here and at its gateway.",
    () => import("./commands/context.ts"),
    (m) => m.logoutCommand,
    // 'login' and the group 'context' name it; the help of the program fits one screen without it.
    {
      section: "Settings",
      skill: "cli-contexts",
      hidden: true,
      prints: false,
      examples: ["logout", "logout gateway.example"]
    }
  ),
  chat,
  files,
  batches,
  ...media,
  search,
  context,
  command(
    "status",
    "Show whether a gateway runs and what is connected; see health, version.",
    () => import("./commands/status.ts"),
    (m) => m.statusCommand,
    {
      section: "Watch",
      skill: "cli-health",
      examples: ["status", "status --json"]
    }
  ),
  command(
    "health",
    "Show the health of a running gateway; exit 1 when it is not well.",
    () => import("./commands/status.ts"),
    (m) => m.healthCommand,
    {
      section: "Watch",
      skill: "cli-health",
      hidden: true,
      examples: ["health", "health --json"]
    }
  ),
  command(
    "test",
    "Ask one small question through the gateway; see eval for many.",
    () => import("./commands/test.ts"),
    (m) => m.testCommand,
    {
      section: "Watch",
      skill: "cli-chat",
      besides: true,
      examples: ["test", "test openai/gpt-4o-mini", "test auto --json"]
    }
  ),
  command(
    "logs",
    "Show what was asked and what it cost; 'inspect' shows all that was sent.",
    () => import("./commands/logs.ts"),
    (m) => m.logsCommand,
    {
      section: "Watch",
      skill: "cli-cost-usage",
      aliases: ["log"],
      examples: [
        "logs --since 2h --status 5xx",
        "logs --provider openai --search timeout",
        "logs --follow",
        "logs show 0199"
      ]
    }
  ),
  command(
    "doctor",
    "Check everything a start depends on; exit 1 when something fails.",
    () => import("./commands/doctor.ts"),
    (m) => m.doctorCommand,
    {
      section: "Watch",
      skill: "cli-health",
      examples: ["doctor", "doctor --json --no-liveness"]
    }
  ),
  group(
    "config",
    "Show the configuration a start would use.",
    [
      command(
        "show",
        "Show the configuration a start would use, without secrets.",
        () => import("./commands/config.ts"),
        (m) => m.configShow,
        {
          aliases: ["get"],
          examples: ["config show --json"]
        }
      )
    ],
    {
      section: "Settings",
      skill: "cli-setup",
      hidden: true,
      otherwise: { name: "show", takesWords: false },
      examples: ["config show"]
    }
  ),
  group(
    "env",
    "Show and change the variables a start reads; see config, completion.",
    [
      command(
        "show",
        "Show the variables a start would read, without secrets.",
        () => import("./commands/env.ts"),
        (m) => m.envShow,
        {
          aliases: ["list", "ls"],
          examples: ["env show --json"]
        }
      ),
      command(
        "get",
        "Print the value a start would read. A secret only with --reveal.",
        () => import("./commands/env.ts"),
        (m) => m.envGet,
        {
          examples: ["env get PORT", "env get OPENAI_API_KEY --reveal"]
        }
      ),
      command(
        "set",
        "Keep a value in the data folder; an empty value removes it.",
        () => import("./commands/env.ts"),
        (m) => m.envSet,
        {
          examples: ["env set PORT 8080", "env set PORT ''"]
        }
      )
    ],
    {
      section: "Settings",
      skill: "cli-setup",
      otherwise: { name: "show", takesWords: false },
      examples: ["env show", "env set PORT 8080"]
    }
  ),
  command(
    "reset-password",
    "Set the admin password anew; a running gateway takes it over.",
    () => import("./commands/reset.ts"),
    (m) => m.resetPassword,
    {
      section: "Settings",
      skill: "cli-setup",
      hidden: true,
      examples: ["reset-password"]
    }
  ),
  command(
    "reset-encrypted-columns",
    "Drop stored credentials when the master key is lost.",
    () => import("./commands/reset.ts"),
    (m) => m.resetEncryptedColumns,
    {
      section: "Settings",
      skill: "cli-setup",
      hidden: true,
      examples: ["reset-encrypted-columns", "reset-encrypted-columns --force"]
    }
  )
]

/** Order of the help within a section. What is not named follows the command that it is listed with, or comes last. */
const order: ReadonlyArray<string> = [
  "start",
  "stop",
  "restart",
  "setup",
  "serve",
  "service",
  "login",
  "logout",
  "chat",
  "files",
  "batches",
  "mcp",
  "skills",
  "a2a",
  "launch",
  "tools",
  "launch-codex",
  "apply",
  "export",
  "import",
  "setup-tools",
  "image",
  "search",
  "context",
  "provider",
  "model",
  "key",
  "proxy",
  "combo",
  "route",
  "quota",
  "status",
  "health",
  "test",
  "logs",
  "usage",
  "budget",
  "audit",
  "resilience",
  "doctor",
  "config",
  "env",
  "tunnel",
  "capture",
  "inspect",
  "plugin",
  "playground",
  "webhook",
  "eval",
  "guardrails",
  "memory",
  "compression",
  "settings",
  "backup",
  "flags",
  "pricing",
  "reset-password",
  "reset-encrypted-columns"
]

/** Gives each command of a list its place. */
const ranked = (nodes: ReadonlyArray<TreeNode>) => {
  let last = order.length
  return nodes.map((node) => {
    const rank = order.indexOf(node.name)
    if (rank >= 0) last = rank
    return { node, rank: last }
  })
}

export const commands: ReadonlyArray<TreeNode> = [...ranked(own), ...subjectCommands.flatMap(ranked)]
  .toSorted((left, right) => left.rank - right.rank)
  .map(({ node }) => node)
