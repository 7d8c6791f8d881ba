/** The commands about connections to providers, and of nodes. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const nodes = group(
  "nodes",
  "Providers of your own: an address and the wires it speaks.",
  [
    command(
      "list",
      "List the providers of your own.",
      () => import("./nodes.ts"),
      (m) => m.nodesList,
      { ...list, examples: ["provider nodes list"] }
    ),
    command(
      "show",
      "Show a provider of your own.",
      () => import("./nodes.ts"),
      (m) => m.nodesShow,
      { aliases: ["get"], examples: ["provider nodes show cellar"] }
    ),
    command(
      "edit",
      "Change the address, the wires or the name of one.",
      () => import("./nodes.ts"),
      (m) => m.nodesEdit,
      { aliases: ["update", "set"], examples: ["provider nodes edit cellar --base-url http://10.0.0.5:8080/v1"] }
    ),
    command(
      "remove",
      "Remove one that has no connections, or with them.",
      () => import("./nodes.ts"),
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
  "Connections to providers, and the catalogue of known ones; see proxy.",
  [
    command(
      "list",
      "List the connections to providers.",
      () => import("./list.ts"),
      (m) => m.providerList,
      {
        ...list,
        examples: ["provider list", "provider list -o wide", "provider list --local --json"]
      }
    ),
    command(
      "add",
      "Connect a provider.",
      () => import("./add.ts"),
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
      "login",
      "Sign in at a provider with an account, and connect it.",
      () => import("./login.ts"),
      (m) => m.providerLogin,
      {
        aliases: ["signin"],
        examples: ["provider login github --client-id Iv1.example", "provider login codex --import-stdin"]
      }
    ),
    command(
      "show",
      "Show a connection with its state, its settings and its quotas.",
      () => import("./show.ts"),
      (m) => m.providerShow,
      { aliases: ["get"], examples: ["provider show work", "provider show openai --json"] }
    ),
    command(
      "edit",
      "Change a connection: name, address, key, models, limits.",
      () => import("./edit.ts"),
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
      () => import("./change.ts"),
      (m) => m.providerRemove,
      { ...remove, examples: ["provider remove work", "provider remove work --yes"] }
    ),
    command(
      "enable",
      "Use a connection again that was switched off.",
      () => import("./change.ts"),
      (m) => m.providerEnable,
      { examples: ["provider enable work"] }
    ),
    command(
      "disable",
      "Keep a connection, but do not use it.",
      () => import("./change.ts"),
      (m) => m.providerDisable,
      { examples: ["provider disable work"] }
    ),
    command(
      "available",
      "List the providers that the gateway knows.",
      () => import("./available.ts"),
      (m) => m.providersAvailable,
      {
        aliases: ["catalog"],
        examples: ["provider available --search groq", "provider available --category local --json"]
      }
    ),
    command(
      "test",
      "Ask one connection a tiny question.",
      () => import("./test.ts"),
      (m) => m.providersTest,
      {
        examples: ["provider test openai"]
      }
    ),
    command(
      "test-all",
      "Ask every active connection a tiny question.",
      () => import("./test.ts"),
      (m) => m.providersTestAll,
      { examples: ["provider test-all --json"] }
    ),
    command(
      "validate",
      "Check whether connections are complete and their keys accepted.",
      () => import("./validate.ts"),
      (m) => m.providersValidate,
      { examples: ["provider validate", "provider validate --offline --json"] }
    ),
    nodes
  ],
  {
    section: "Connect",
    skill: "cli-providers",
    aliases: ["providers"],
    examples: ["provider available --search groq", "provider add openai", "provider list"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [provider]
