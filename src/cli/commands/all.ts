/** Every command but those that need the tree itself. */
import { command, group, type TreeNode } from "../tree/Tree.ts"

const list = { aliases: ["ls"] }
const add = { aliases: ["create", "new"] }
const remove = { aliases: ["delete", "rm"] }

const nodes = group(
  "nodes",
  "Providers of your own: an address and the wires it speaks.",
  [
    command(
      "list",
      "List the providers of your own.",
      () => import("./provider/nodes.ts"),
      (m) => m.nodesList,
      { ...list, examples: ["provider nodes list"] }
    ),
    command(
      "show",
      "Show a provider of your own.",
      () => import("./provider/nodes.ts"),
      (m) => m.nodesShow,
      { aliases: ["get"], examples: ["provider nodes show cellar"] }
    ),
    command(
      "edit",
      "Change the address, the wires or the name of one.",
      () => import("./provider/nodes.ts"),
      (m) => m.nodesEdit,
      { aliases: ["update", "set"], examples: ["provider nodes edit cellar --base-url http://10.0.0.5:8080/v1"] }
    ),
    command(
      "remove",
      "Remove one that has no connections, or with them.",
      () => import("./provider/nodes.ts"),
      (m) => m.nodesRemove,
      { ...remove, examples: ["provider nodes remove cellar --with-connections"] }
    )
  ],
  {
    aliases: ["node"],
    examples: [
      "provider add custom --name cellar --base-url http://127.0.0.1:8080/v1 --wire chat",
      "provider nodes list"
    ]
  }
)

const provider = group(
  "provider",
  "Connections to providers, and the catalogue of those that are known.",
  [
    command(
      "list",
      "List the connections to providers.",
      () => import("./provider/list.ts"),
      (m) => m.providerList,
      {
        ...list,
        examples: ["provider list", "provider list -o wide", "provider list --local --json"]
      }
    ),
    command(
      "add",
      "Connect a provider.",
      () => import("./provider/add.ts"),
      (m) => m.providerAdd,
      {
        ...add,
        examples: [
          "provider add openai",
          "provider add anthropic --api-key-env ANTHROPIC_API_KEY --name work",
          "provider add custom --name cellar --base-url http://127.0.0.1:8080/v1 --wire chat"
        ]
      }
    ),
    command(
      "show",
      "Show a connection with its state, its settings and its quotas.",
      () => import("./provider/show.ts"),
      (m) => m.providerShow,
      { aliases: ["get"], examples: ["provider show work", "provider show openai --json"] }
    ),
    command(
      "edit",
      "Change a connection: name, address, key, models, limits.",
      () => import("./provider/edit.ts"),
      (m) => m.providerEdit,
      {
        aliases: ["update", "set"],
        examples: [
          "provider edit work --name private --priority 1",
          "provider edit work --ask-key",
          "provider edit work --api-key-env OPENAI_API_KEY",
          "provider edit cellar --base-url http://10.0.0.5:8080/v1 --max-concurrent 2"
        ]
      }
    ),
    command(
      "remove",
      "Remove a connection and its key.",
      () => import("./provider/change.ts"),
      (m) => m.providerRemove,
      { ...remove, examples: ["provider remove work", "provider remove work --yes"] }
    ),
    command(
      "enable",
      "Use a connection again that was switched off.",
      () => import("./provider/change.ts"),
      (m) => m.providerEnable,
      { examples: ["provider enable work"] }
    ),
    command(
      "disable",
      "Keep a connection, but do not use it.",
      () => import("./provider/change.ts"),
      (m) => m.providerDisable,
      { examples: ["provider disable work"] }
    ),
    command(
      "available",
      "List the providers that the gateway knows.",
      () => import("./providers/available.ts"),
      (m) => m.providersAvailable,
      {
        aliases: ["catalog"],
        examples: ["provider available --search groq", "provider available --category local --json"]
      }
    ),
    command(
      "test",
      "Ask one connection a tiny question.",
      () => import("./providers/test.ts"),
      (m) => m.providersTest,
      {
        examples: ["provider test openai"]
      }
    ),
    command(
      "test-all",
      "Ask every active connection a tiny question.",
      () => import("./providers/test.ts"),
      (m) => m.providersTestAll,
      { examples: ["provider test-all --json"] }
    ),
    command(
      "validate",
      "Check whether connections are complete and their keys accepted.",
      () => import("./providers/validate.ts"),
      (m) => m.providersValidate,
      { examples: ["provider validate", "provider validate --offline --json"] }
    ),
    nodes
  ],
  {
    section: "Connect",
    aliases: ["providers"],
    examples: ["provider available --search groq", "provider add openai", "provider list"]
  }
)

const alias = group(
  "alias",
  "Other names for models.",
  [
    command(
      "add",
      "Make a name stand for a model; a former meaning is replaced.",
      () => import("./models/alias.ts"),
      (m) => m.aliasAdd,
      {
        aliases: ["set", "create"],
        examples: ["model alias add best openai/gpt-4o"]
      }
    ),
    command(
      "list",
      "List the other names.",
      () => import("./models/alias.ts"),
      (m) => m.aliasList,
      {
        ...list,
        examples: ["model alias list"]
      }
    ),
    command(
      "remove",
      "Remove an alias.",
      () => import("./models/alias.ts"),
      (m) => m.aliasRemove,
      {
        ...remove,
        examples: ["model alias remove best"]
      }
    )
  ],
  { aliases: ["aliases"], examples: ["model alias list"] }
)

const pricing = group(
  "pricing",
  "Prices of your own, in USD per 1,000,000 tokens.",
  [
    command(
      "list",
      "List the prices that were set.",
      () => import("./pricing.ts"),
      (m) => m.pricingList,
      { ...list, examples: ["pricing list"] }
    ),
    command(
      "show",
      "Show the price that was set for a model.",
      () => import("./pricing.ts"),
      (m) => m.pricingShow,
      { aliases: ["get"], examples: ["pricing show openai/gpt-4o-mini"] }
    ),
    command(
      "set",
      "Set the price of a model.",
      () => import("./pricing.ts"),
      (m) => m.pricingSet,
      { examples: ["pricing set openai/gpt-4o-mini --in 0.15 --out 0.6 --cached 0.075"] }
    ),
    command(
      "unset",
      "Let the price count again that the gateway comes with.",
      () => import("./pricing.ts"),
      (m) => m.pricingUnset,
      { ...remove, examples: ["pricing unset openai/gpt-4o-mini"] }
    )
  ],
  {
    aliases: ["prices", "price"],
    examples: ["pricing list", "pricing set openai/gpt-4o-mini --in 0.15 --out 0.6"]
  }
)

const model = group(
  "model",
  "Models that clients can ask for, and other names for them.",
  [
    command(
      "list",
      "List the models a client can ask for, all or one provider's.",
      () => import("./models.ts"),
      (m) => m.modelsCommand,
      {
        ...list,
        examples: ["model list", "models openai --json"]
      }
    ),
    command(
      "show",
      "Show what is known of a model.",
      () => import("./models/declared.ts"),
      (m) => m.modelShow,
      { aliases: ["get"], examples: ["model show openai/gpt-4o-mini"] }
    ),
    command(
      "declare",
      "Say what a model can, where the provider says it wrongly or not.",
      () => import("./models/declared.ts"),
      (m) => m.modelDeclare,
      { examples: ["model declare openai/my-finetune-1 --context 128000 --vision yes"] }
    ),
    command(
      "declared",
      "List the models that were declared.",
      () => import("./models/declared.ts"),
      (m) => m.declaredList,
      { examples: ["model declared"] }
    ),
    command(
      "undeclare",
      "Take back what was declared of a model.",
      () => import("./models/declared.ts"),
      (m) => m.modelUndeclare,
      { examples: ["model undeclare openai/my-finetune-1"] }
    ),
    alias,
    pricing
  ],
  {
    section: "Connect",
    aliases: ["models"],
    otherwise: { name: "list", takesWords: true },
    examples: ["models", "models openai --json", "model alias list"]
  }
)

const key = group(
  "key",
  "API keys of this gateway, for clients and for people who manage it.",
  [
    command(
      "list",
      "List the API keys.",
      () => import("./keys/list.ts"),
      (m) => m.keysList,
      {
        ...list,
        examples: ["key list", "key list -o csv"]
      }
    ),
    command(
      "add",
      "Make an API key. Its secret is shown once, alone on stdout.",
      () => import("./keys/add.ts"),
      (m) => m.keysAdd,
      {
        ...add,
        examples: ["key add laptop", "key add ops --scope manage --local"]
      }
    ),
    command(
      "remove",
      "Remove an API key.",
      () => import("./keys/remove.ts"),
      (m) => m.keysRemove,
      {
        ...remove,
        examples: ["key remove laptop"]
      }
    ),
    command(
      "show",
      "Show an API key: what it may do, its limits and its use.",
      () => import("./keys/change.ts"),
      (m) => m.keyShow,
      { aliases: ["get"], examples: ["key show laptop"] }
    ),
    command(
      "edit",
      "Change an API key: name, scopes, models, expiry, limits.",
      () => import("./keys/change.ts"),
      (m) => m.keyEdit,
      {
        aliases: ["update", "set"],
        examples: ["key edit laptop --rate-limit 60/60", "key edit laptop --expires 2030-01-31T00:00:00Z"]
      }
    ),
    command(
      "enable",
      "Let an API key work again.",
      () => import("./keys/change.ts"),
      (m) => m.keyEnable,
      { examples: ["key enable laptop"] }
    ),
    command(
      "disable",
      "Keep an API key, but refuse it.",
      () => import("./keys/change.ts"),
      (m) => m.keyDisable,
      { examples: ["key disable laptop"] }
    )
  ],
  { section: "Connect", aliases: ["keys"], examples: ["key add laptop", "key list"] }
)

const combo = group(
  "combo",
  "Combos: names that stand for several models, with a strategy.",
  [
    command(
      "list",
      "List the combos.",
      () => import("./combo/list.ts"),
      (m) => m.comboList,
      {
        ...list,
        examples: ["combo list", "combo list --json"]
      }
    ),
    command(
      "auto",
      "List the automatic ids and what each would choose from.",
      () => import("./combo/auto.ts"),
      (m) => m.comboAuto,
      {
        examples: ["combo auto --json"]
      }
    ),
    command(
      "create",
      "Make a combo, a name under which several models answer.",
      () => import("./combo/create.ts"),
      (m) => m.comboCreate,
      {
        aliases: ["add", "new"],
        examples: ["combo create fast groq/llama-3.3-70b-versatile openai/gpt-4o-mini"]
      }
    ),
    command(
      "show",
      "Show a combo: its targets, its strategy and settings.",
      () => import("./combo/edit.ts"),
      (m) => m.comboShow,
      { aliases: ["get"], examples: ["combo show fast"] }
    ),
    command(
      "edit",
      "Change a combo: name, strategy, targets, weights, settings.",
      () => import("./combo/edit.ts"),
      (m) => m.comboEdit,
      {
        aliases: ["update", "set"],
        examples: ["combo edit fast --strategy round-robin --add openai/gpt-4o-mini", "combo edit fast --active no"]
      }
    ),
    command(
      "switch",
      "Make another target the first of a combo; the others keep their order.",
      () => import("./combo/switch.ts"),
      (m) => m.comboSwitch,
      { examples: ["combo switch fast openai/gpt-4o-mini"] }
    ),
    command(
      "delete",
      "Delete a combo that no other combo uses.",
      () => import("./combo/delete.ts"),
      (m) => m.comboDelete,
      {
        aliases: ["remove", "rm"],
        examples: ["combo delete fast"]
      }
    )
  ],
  {
    section: "Route",
    aliases: ["combos"],
    examples: ["combo create fast groq/llama-3.3-70b-versatile openai/gpt-4o-mini", "combo list"]
  }
)

const routeSettings = group(
  "settings",
  "Settings of routing that hold for every request.",
  [
    command(
      "show",
      "Show the settings, all or a part of them.",
      () => import("./settings/groups.ts"),
      (m) => m.routingShow,
      { aliases: ["list", "get"], examples: ["route settings show"] }
    ),
    command(
      "set",
      "Change settings; they are in force at once.",
      () => import("./settings/groups.ts"),
      (m) => m.routingSet,
      { examples: ["route settings set freeTierStrict=true"] }
    )
  ],
  {
    otherwise: { name: "show", takesWords: false },
    examples: ["route settings show", "route settings set freeTierStrict=true"]
  }
)

const route = group(
  "route",
  "See why requests go where they go, and try what would happen.",
  [
    command(
      "explain",
      "Show how a request would be routed. Nothing is sent.",
      () => import("./route/explain.ts"),
      (m) => m.routeExplain,
      {
        examples: ["route explain auto/fast"]
      }
    ),
    command(
      "decision",
      "Show why a request went where it went.",
      () => import("./route/decision.ts"),
      (m) => m.routeDecision,
      {
        examples: ["route decision 3f1c…"]
      }
    ),
    command(
      "simulate",
      "Simulate a combo with made-up upstreams. Nothing is sent.",
      () => import("./route/simulate.ts"),
      (m) => m.routeSimulate,
      {
        examples: [
          "route simulate my-combo --requests 10000 --seed 1",
          "route simulate my-combo --requests 1000 --scenario 429-daily-quota",
          "route simulate my-combo --fault openai=403-banned@60 --fault groq=503:0.2",
          "route simulate auto/fast --rate 50 --errors openai=0.05 --quota groq=30/60"
        ]
      }
    ),
    command(
      "replay",
      "Decide recorded requests anew by another combo. Nothing is sent.",
      () => import("./route/replay.ts"),
      (m) => m.routeReplay,
      {
        examples: ["route replay --since 24h --combo cheaper"]
      }
    ),
    routeSettings
  ],
  { section: "Route", aliases: ["routing"], examples: ["route explain auto/fast"] }
)

const quotaGroups = group(
  "groups",
  "Groups of connections that share their quota by weight.",
  [
    command(
      "list",
      "List the quota groups.",
      () => import("./quota/groups.ts"),
      (m) => m.quotaGroupsList,
      {
        ...list,
        examples: ["quota groups list --json"]
      }
    ),
    command(
      "add",
      "Make a quota group of connections with weights.",
      () => import("./quota/groups.ts"),
      (m) => m.quotaGroupsAdd,
      {
        ...add,
        examples: ["quota groups add team work=3 spare=1"]
      }
    ),
    command(
      "remove",
      "Delete a quota group.",
      () => import("./quota/groups.ts"),
      (m) => m.quotaGroupsRemove,
      {
        ...remove,
        examples: ["quota groups remove team"]
      }
    ),
    command(
      "show",
      "Show a quota group and what its keys have used.",
      () => import("./quota/groups.ts"),
      (m) => m.quotaGroupsShow,
      { aliases: ["get"], examples: ["quota groups show team"] }
    ),
    command(
      "edit",
      "Change the name, the connections or the keys of a group.",
      () => import("./quota/groups.ts"),
      (m) => m.quotaGroupsEdit,
      { aliases: ["update", "set"], examples: ["quota groups edit team --member work=3 --member spare=1"] }
    )
  ],
  { aliases: ["group"], examples: ["quota groups list"] }
)

const resilienceSettings = group(
  "settings",
  "Timeouts, breakers, cooldowns, queues: the settings of resilience.",
  [
    command(
      "show",
      "Show the settings, all or a part of them.",
      () => import("./settings/groups.ts"),
      (m) => m.resilienceShow,
      { aliases: ["list", "get"], examples: ["resilience settings show"] }
    ),
    command(
      "set",
      "Change settings; they are in force at once.",
      () => import("./settings/groups.ts"),
      (m) => m.resilienceSet,
      { examples: ["resilience settings set timeouts.totalMs=300000"] }
    )
  ],
  {
    otherwise: { name: "show", takesWords: false },
    examples: ["resilience settings show", "resilience settings set timeouts.totalMs=300000"]
  }
)

const resilience = group(
  "resilience",
  "What is held back after failures, and how to let it go on.",
  [
    command(
      "status",
      "Show breakers, connections that are out, locked models, settings.",
      () => import("./resilience/status.ts"),
      (m) => m.resilienceStatus,
      {
        examples: ["resilience status", "resilience status --json"]
      }
    ),
    command(
      "cooldowns",
      "List the connections that cannot be used now, and the locked models.",
      () => import("./resilience/cooldowns.ts"),
      (m) => m.resilienceCooldowns,
      {
        examples: ["resilience cooldowns --json"]
      }
    ),
    command(
      "reset",
      "Close the breaker of a provider, or all of them.",
      () => import("./resilience/reset.ts"),
      (m) => m.resilienceReset,
      {
        examples: ["resilience reset", "resilience reset openai"]
      }
    ),
    command(
      "clear",
      "Use connections again that cool down or are out, and unlock models.",
      () => import("./resilience/clear.ts"),
      (m) => m.resilienceClear,
      {
        examples: [
          "resilience clear --all",
          "resilience clear --connection work",
          "resilience clear --provider openai --model gpt-4.1"
        ]
      }
    ),
    resilienceSettings
  ],
  { section: "Watch", examples: ["resilience status", "resilience clear --all"] }
)

const context = group(
  "context",
  "Gateways you are logged in to, and which of them commands use.",
  [
    command(
      "list",
      "List the logins.",
      () => import("./context.ts"),
      (m) => m.contextList,
      { ...list, examples: ["context list"] }
    ),
    command(
      "show",
      "Show a login, or the one in use.",
      () => import("./context.ts"),
      (m) => m.contextShow,
      { examples: ["context show"] }
    ),
    command(
      "use",
      "Choose the gateway that commands go to; 'local' is this machine's.",
      () => import("./context.ts"),
      (m) => m.contextUse,
      { prints: false, examples: ["context use gateway.example", "context use local"] }
    ),
    command(
      "remove",
      "Forget a login without asking its gateway; 'logout' removes its key too.",
      () => import("./context.ts"),
      (m) => m.contextRemove,
      { ...remove, prints: false, examples: ["context remove gateway.example"] }
    )
  ],
  { section: "Settings", aliases: ["contexts"], examples: ["context list", "context use local"] }
)

const flags = group(
  "flags",
  "Feature flags: switches of the gateway.",
  [
    command(
      "list",
      "List the flags with their values and who set them.",
      () => import("./flags.ts"),
      (m) => m.flagsList,
      { ...list, examples: ["flags list", "flags list -o wide"] }
    ),
    command(
      "show",
      "Show a flag: what it does, its value and its values.",
      () => import("./flags.ts"),
      (m) => m.flagsShow,
      { aliases: ["get"], examples: ["flags show REQUIRE_API_KEY"] }
    ),
    command(
      "set",
      "Set a flag.",
      () => import("./flags.ts"),
      (m) => m.flagsSet,
      { examples: ["flags set REQUIRE_API_KEY true"] }
    ),
    command(
      "unset",
      "Let a flag go back to its default, or all of them.",
      () => import("./flags.ts"),
      (m) => m.flagsUnset,
      { aliases: ["clear", "reset"], examples: ["flags unset REQUIRE_API_KEY", "flags unset --all"] }
    )
  ],
  { aliases: ["flag"], examples: ["flags list", "flags set REQUIRE_API_KEY true"] }
)

const settings = group(
  "settings",
  "Settings of the gateway as a whole, and its feature flags.",
  [
    command(
      "show",
      "Show the settings, all or a part of them.",
      () => import("./settings/groups.ts"),
      (m) => m.gatewayShow,
      { aliases: ["list", "get"], examples: ["settings show"] }
    ),
    command(
      "set",
      "Change settings; they are in force at once.",
      () => import("./settings/groups.ts"),
      (m) => m.gatewaySet,
      { examples: ["settings set decisions.retentionDays=14"] }
    ),
    flags
  ],
  {
    section: "Settings",
    otherwise: { name: "show", takesWords: false },
    examples: ["settings show", "settings set decisions.retentionDays=14"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [
  command(
    "setup",
    "Set the admin password and connect a provider, step by step.",
    () => import("./setup.ts"),
    (m) => m.setupCommand,
    {
      section: "Start",
      examples: ["setup", "setup --non-interactive --provider openai --test-provider"]
    }
  ),
  command(
    "serve",
    "Start the gateway; this is what 'gateway' alone does.",
    () => import("./serve.ts"),
    (m) => m.serveCommand,
    {
      section: "Start",
      prints: false,
      examples: ["serve", "serve --port 8080 --no-open"]
    }
  ),
  group(
    "service",
    "Keep the gateway running as a systemd service of yours.",
    [
      command(
        "install",
        "Write a systemd unit of your user, start it and enable it.",
        () => import("./service.ts"),
        (m) => m.serviceInstall,
        {
          prints: false,
          examples: ["service install", "service install --port 8080", "service install --print"]
        }
      ),
      command(
        "status",
        "Show whether the service runs; exit 3 when it does not.",
        () => import("./service.ts"),
        (m) => m.serviceStatus,
        { examples: ["service status", "service status --json"] }
      ),
      command(
        "uninstall",
        "Stop the service and remove its unit; the data stays.",
        () => import("./service.ts"),
        (m) => m.serviceUninstall,
        { ...remove, prints: false, examples: ["service uninstall"] }
      )
    ],
    { section: "Start", examples: ["service install", "service status"] }
  ),
  command(
    "login",
    "Log in to a gateway elsewhere, so that commands go there.",
    () => import("./login.ts"),
    (m) => m.loginCommand,
    {
      section: "Start",
      prints: false,
      examples: ["login https://gateway.example", "login https://gateway.example --key-stdin"]
    }
  ),
  command(
    "logout",
    "Remove the key of a login, here and at its gateway.",
    () => import("./context.ts"),
    (m) => m.logoutCommand,
    { section: "Settings", prints: false, examples: ["logout", "logout gateway.example"] }
  ),
  context,
  provider,
  model,
  key,
  combo,
  route,
  group("quota", "Who shares the quota of which connections.", [quotaGroups], {
    section: "Route",
    aliases: ["quotas"],
    examples: ["quota groups list"]
  }),
  command(
    "status",
    "Show whether a gateway runs, its version and its connections.",
    () => import("./status.ts"),
    (m) => m.statusCommand,
    {
      section: "Watch",
      examples: ["status", "status --json"]
    }
  ),
  command(
    "health",
    "Show the health of a running gateway; exit 1 when it is not well.",
    () => import("./status.ts"),
    (m) => m.healthCommand,
    {
      section: "Watch",
      examples: ["health", "health --json"]
    }
  ),
  command(
    "logs",
    "Show what was asked and what it cost, the newest last.",
    () => import("./logs.ts"),
    (m) => m.logsCommand,
    {
      section: "Watch",
      aliases: ["log"],
      examples: ["logs --search openai", "logs --follow --json"]
    }
  ),
  resilience,
  command(
    "doctor",
    "Check everything a start depends on; exit 1 when something fails.",
    () => import("./doctor.ts"),
    (m) => m.doctorCommand,
    {
      section: "Watch",
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
        () => import("./config.ts"),
        (m) => m.configShow,
        {
          aliases: ["get"],
          examples: ["config show --json"]
        }
      )
    ],
    { section: "Settings", otherwise: { name: "show", takesWords: false }, examples: ["config show"] }
  ),
  group(
    "env",
    "Show and change the variables a start reads.",
    [
      command(
        "show",
        "Show the variables a start would read, without secrets.",
        () => import("./env.ts"),
        (m) => m.envShow,
        {
          aliases: ["list", "ls"],
          examples: ["env show --json"]
        }
      ),
      command(
        "get",
        "Print the value a start would read. A secret only with --reveal.",
        () => import("./env.ts"),
        (m) => m.envGet,
        {
          examples: ["env get PORT", "env get OPENAI_API_KEY --reveal"]
        }
      ),
      command(
        "set",
        "Keep a value in the data folder; an empty value removes it.",
        () => import("./env.ts"),
        (m) => m.envSet,
        {
          examples: ["env set PORT 8080", "env set PORT ''"]
        }
      )
    ],
    { section: "Settings", otherwise: { name: "show", takesWords: false }, examples: ["env show", "env set PORT 8080"] }
  ),
  settings,
  // Short ways to groups that stand within others.
  { ...flags, hidden: true },
  { ...pricing, hidden: true },
  command(
    "reset-password",
    "Set the admin password anew; a running gateway takes it over.",
    () => import("./reset.ts"),
    (m) => m.resetPassword,
    {
      section: "Settings",
      examples: ["reset-password"]
    }
  ),
  command(
    "reset-encrypted-columns",
    "Drop stored credentials when the master key is lost.",
    () => import("./reset.ts"),
    (m) => m.resetEncryptedColumns,
    {
      section: "Settings",
      examples: ["reset-encrypted-columns", "reset-encrypted-columns --force"]
    }
  )
]
