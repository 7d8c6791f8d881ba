/** The commands about webhooks. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const webhook = group(
  "webhook",
  "Addresses that are told what happens, by signed requests; see plugin.",
  [
    command(
      "list",
      "List the webhooks, and how their last deliveries went.",
      () => import("./show.ts"),
      (m) => m.webhookList,
      { ...list, examples: ["webhook list", "webhook list --json"] }
    ),
    command(
      "add",
      "Send events to an address. Its secret is printed, alone on stdout.",
      () => import("./change.ts"),
      (m) => m.webhookAdd,
      {
        ...add,
        examples: [
          "webhook add https://hooks.example.com/gateway",
          "webhook add https://hooks.slack.com/services/T/B/X --kind slack --event provider.error",
          "webhook add smtps://mx.example.com --kind email --from gw@example.com --mail-to me@x.com"
        ]
      }
    ),
    command(
      "test",
      "Send a test.ping now, once.",
      () => import("./show.ts"),
      (m) => m.webhookTest,
      { aliases: ["ping"], examples: ["webhook test https://hooks.example.com/gateway"] }
    ),
    command(
      "remove",
      "Remove a webhook.",
      () => import("./change.ts"),
      (m) => m.webhookRemove,
      { ...remove, examples: ["webhook remove https://hooks.example.com/gateway"] }
    ),
    command(
      "deliveries",
      "List the last 100 attempts to reach a webhook.",
      () => import("./show.ts"),
      (m) => m.webhookDeliveries,
      { aliases: ["log"], examples: ["webhook deliveries https://hooks.example.com/gateway"] }
    ),
    command(
      "show",
      "Show a webhook with its secret.",
      () => import("./show.ts"),
      (m) => m.webhookShow,
      { aliases: ["get"], examples: ["webhook show https://hooks.example.com/gateway"] }
    ),
    command(
      "edit",
      "Change a webhook: address, events, secret, kind, description.",
      () => import("./change.ts"),
      (m) => m.webhookEdit,
      {
        aliases: ["update", "set"],
        examples: ["webhook edit https://hooks.example.com/gateway --event request.failed"]
      }
    ),
    command(
      "enable",
      "Send events to a webhook again, and those that waited.",
      () => import("./change.ts"),
      (m) => m.webhookEnable,
      { examples: ["webhook enable https://hooks.example.com/gateway"] }
    ),
    command(
      "disable",
      "Keep a webhook, but send it nothing.",
      () => import("./change.ts"),
      (m) => m.webhookDisable,
      { examples: ["webhook disable https://hooks.example.com/gateway"] }
    )
  ],
  {
    section: "Watch",
    skill: "cli-policy-audit",
    aliases: ["webhooks"],
    examples: ["webhook add https://hooks.example.com/gateway", "webhook list"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [webhook]
