/** Every command but those that need the tree itself. Each noun with several commands has its own part. */
import { subjectCommands } from "./subjectCommands.generated.ts"
import { type TreeNode, from, group } from "./tree/Tree.ts"
import { list, remove } from "./tree/verbs.ts"
import { batches, chat, files, media, search } from "./commands/use/tree.ts"

const fromContext = from(() => import("./commands/context.ts"))
const fromLogin = from(() => import("./commands/login.ts"))
const fromCombos = from(() => import("../subjects/compression/commands/combos.ts"))
const fromRunning = from(() => import("./commands/running.ts"))
const fromSetup = from(() => import("./commands/setup.ts"))
const fromServe = from(() => import("./commands/serve.ts"))
const fromService = from(() => import("./commands/service.ts"))
const fromStatus = from(() => import("./commands/status.ts"))
const fromTest = from(() => import("./commands/test.ts"))
const fromLogs = from(() => import("./commands/logs.ts"))
const fromDoctor = from(() => import("./commands/doctor.ts"))
const fromConformance = from(() => import("./commands/conformance.ts"))
const fromApi = from(() => import("./commands/api.ts"))
const fromConfig = from(() => import("./commands/config.ts"))
const fromEnv = from(() => import("./commands/env.ts"))
const fromStore = from(() => import("./commands/store.ts"))
const fromReset = from(() => import("./commands/reset.ts"))

const context = group(
  "context",
  "Gateways you are logged in to, and which one is used; see logout.",
  [
    fromContext("list", "contextList", "List the logins.", { ...list, examples: ["context list"] }),
    fromContext("show", "contextShow", "Show a login, or the one in use.", { examples: ["context show"] }),
    fromLogin("add", "contextAdd", "Log in to a gateway without using it yet.", {
      prints: false,
      examples: ["context add work https://gateway.example --key-stdin < key.txt"]
    }),
    fromContext("use", "contextUse", "Choose the gateway that commands go to; 'local' is this machine's.", {
      prints: false,
      examples: ["context use gateway.example", "context use local"]
    }),
    fromContext("remove", "contextRemove", "Forget a login without asking its gateway; 'logout' removes its key too.", {
      ...remove,
      prints: false,
      examples: ["context remove gateway.example"]
    }),
    fromCombos("combos", "compressionCombos", "List the compression combos; the same as 'compression combos'.", {
      examples: ["context combos"]
    })
  ],
  {
    section: "Settings",
    skill: "cli-contexts",
    besides: true,
    aliases: ["contexts"],
    examples: ["context list", "context use local"]
  }
)

const start = fromRunning("start", "startCommand", "Start the service where it is installed, else serve here.", {
  prints: false,
  examples: ["start"]
})
const stop = fromRunning("stop", "stopCommand", "Stop the service, or the gateway that runs on this data folder.", {
  prints: false,
  examples: ["stop"]
})
const restart = fromRunning(
  "restart",
  "restartCommand",
  "Restart the service, or the gateway that runs on this data folder.",
  { prints: false, examples: ["restart"] }
)
/** The help of the program fits one screen without them; the group 'service' names them. */
const atTop = <Node extends TreeNode>(node: Node): Node => ({ ...node, section: "Start", hidden: true })
const inService = <Node extends TreeNode>(node: Node): Node => ({ ...node, examples: [`service ${node.name}`] })

const own: ReadonlyArray<TreeNode> = [
  atTop(start),
  atTop(stop),
  atTop(restart),
  fromSetup("setup", "setupCommand", "Set the admin password and connect a provider; see reset-password.", {
    section: "Start",
    skill: "cli-setup",
    examples: ["setup", "setup --non-interactive --provider ollama"]
  }),
  fromServe("serve", "serveCommand", "Start the gateway, as 'gateway' alone does; see open, tunnel.", {
    section: "Start",
    skill: "cli-serve",
    prints: false,
    examples: ["serve", "serve --port 8080 --no-open"]
  }),
  group(
    "service",
    "Keep the gateway running as a systemd service of yours.",
    [
      inService(start),
      inService(stop),
      inService(restart),
      fromService("install", "serviceInstall", "Write a systemd unit of your user, start it and enable it.", {
        prints: false,
        examples: ["service install", "service install --port 8080", "service install --print"]
      }),
      fromService("status", "serviceStatus", "Show whether the service runs; exit 3 when it does not.", {
        examples: ["service status", "service status --json"]
      }),
      fromService("uninstall", "serviceUninstall", "Stop the service and remove its unit; the data stays.", {
        ...remove,
        prints: false,
        examples: ["service uninstall"]
      })
    ],
    { section: "Start", skill: "cli-serve", examples: ["service install", "service status"] }
  ),
  fromLogin("login", "loginCommand", "Log in to a gateway elsewhere; see context, logout, whoami, me.", {
    section: "Start",
    skill: "cli-contexts",
    prints: false,
    examples: [
      "login https://gateway.example",
      "login https://gateway.example --key-stdin",
      "login https://gateway.example --sso",
      "login https://gateway.example --sso --device"
    ]
  }),
  fromContext(
    "logout",
    "logoutCommand",
    "Remove the key of a login, here and at its gateway.",
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
  fromStatus("status", "statusCommand", "Show whether a gateway runs; see attention, cluster, health, version.", {
    section: "Watch",
    skill: "cli-health",
    examples: ["status", "status --json"]
  }),
  fromStatus("health", "healthCommand", "Show the health of a running gateway; exit 1 when it is not well.", {
    section: "Watch",
    skill: "cli-health",
    hidden: true,
    examples: ["health", "health --json"]
  }),
  fromTest("test", "testCommand", "Ask one small question through the gateway; see eval for many.", {
    section: "Watch",
    skill: "cli-chat",
    besides: true,
    examples: ["test", "test openai/gpt-4o-mini", "test auto --json"]
  }),
  fromLogs("logs", "logsCommand", "Show what was asked and what it cost; 'inspect' shows all that was sent.", {
    section: "Watch",
    skill: "cli-cost-usage",
    aliases: ["log"],
    examples: [
      "logs --since 2h --status 5xx",
      "logs --provider openai --search timeout",
      "logs --follow",
      "logs show 0199"
    ]
  }),
  fromDoctor("doctor", "doctorCommand", "Check everything a start depends on; see conformance for clients.", {
    section: "Watch",
    skill: "cli-health",
    examples: ["doctor", "doctor --json --no-liveness"]
  }),
  fromConformance(
    "conformance",
    "conformanceCommand",
    "Check what a gateway or provider keeps of the wires' contracts.",
    {
      section: "Watch",
      skill: "cli-health",
      besides: true,
      examples: [
        "conformance --model openai/gpt-4o-mini",
        "conformance --wire chat --wire messages --json",
        "conformance --against http://127.0.0.1:11434 --model llama3.2 --wire ollama"
      ]
    }
  ),
  fromApi("api", "apiCommand", "Call any address of the gateway, and print its answer.", {
    section: "Settings",
    skill: "cli-setup",
    besides: true,
    examples: [
      "api GET /api/usage/logs --query limit=5",
      'api POST /api/keys --data \'{"name":"ci"}\'',
      "api PATCH /api/settings --data @settings.json"
    ]
  }),
  group(
    "config",
    "Show the configuration a start would use.",
    [
      fromConfig("show", "configShow", "Show the configuration a start would use, without secrets.", {
        aliases: ["get"],
        examples: ["config show --json"]
      })
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
      fromEnv("show", "envShow", "Show the variables a start would read, without secrets.", {
        aliases: ["list", "ls"],
        examples: ["env show --json"]
      }),
      fromEnv("get", "envGet", "Print the value a start would read. A secret only with --reveal.", {
        examples: ["env get PORT", "env get OPENAI_API_KEY --reveal"]
      }),
      fromEnv("set", "envSet", "Keep a value in the data folder; an empty value removes it.", {
        examples: ["env set PORT 8080", "env set PORT ''"]
      })
    ],
    {
      section: "Settings",
      skill: "cli-setup",
      otherwise: { name: "show", takesWords: false },
      examples: ["env show", "env set PORT 8080"]
    }
  ),
  group(
    "store",
    "Copy the database to a server of Postgres, and back.",
    [
      fromStore("migrate", "storeMigrate", "Copy the database to the other engine; run again, it goes on.", {
        examples: [
          "store migrate --from sqlite --to postgres --dry-run",
          "store migrate --from sqlite --to postgres",
          "store migrate --from postgres --to sqlite"
        ]
      })
    ],
    {
      section: "Settings",
      skill: "cli-backup-sync",
      besides: true,
      examples: ["store migrate --from sqlite --to postgres --dry-run"]
    }
  ),
  fromReset("reset-password", "resetPassword", "Set the admin password anew; a running gateway takes it over.", {
    section: "Settings",
    skill: "cli-setup",
    hidden: true,
    examples: ["reset-password"]
  }),
  fromReset(
    "reset-encrypted-columns",
    "resetEncryptedColumns",
    "Drop stored credentials when the master key is lost.",
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
  "open",
  "service",
  "login",
  "logout",
  "whoami",
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
  "attention",
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
  "api",
  "backup",
  "store",
  "flags",
  "pricing",
  "admin-session",
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
