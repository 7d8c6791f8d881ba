/** The commands about models, their other names and their prices. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { list, remove } from "../../../cli/tree/verbs.ts"

const alias = group(
  "alias",
  "Other names for models.",
  [
    command(
      "add",
      "Make a name stand for a model; a former meaning is replaced.",
      () => import("./alias.ts"),
      (m) => m.aliasAdd,
      {
        aliases: ["set", "create"],
        examples: ["model alias add best openai/gpt-4o"]
      }
    ),
    command(
      "list",
      "List the other names.",
      () => import("./alias.ts"),
      (m) => m.aliasList,
      {
        ...list,
        examples: ["model alias list"]
      }
    ),
    command(
      "remove",
      "Remove an alias.",
      () => import("./alias.ts"),
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
      () => import("../../pricing/commands.ts"),
      (m) => m.pricingList,
      { ...list, examples: ["pricing list"] }
    ),
    command(
      "show",
      "Show the price that was set for a model.",
      () => import("../../pricing/commands.ts"),
      (m) => m.pricingShow,
      { aliases: ["get"], examples: ["pricing show openai/gpt-4o-mini"] }
    ),
    command(
      "set",
      "Set the price of a model.",
      () => import("../../pricing/commands.ts"),
      (m) => m.pricingSet,
      { examples: ["pricing set openai/gpt-4o-mini --in 0.15 --out 0.6 --cached 0.075"] }
    ),
    command(
      "unset",
      "Let the price count again that the gateway comes with.",
      () => import("../../pricing/commands.ts"),
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
      () => import("./list.ts"),
      (m) => m.modelsCommand,
      {
        ...list,
        examples: ["model list", "models openai --json", "models --all"]
      }
    ),
    command(
      "show",
      "Show what is known of a model.",
      () => import("./declared.ts"),
      (m) => m.modelShow,
      { aliases: ["get"], examples: ["model show openai/gpt-4o-mini"] }
    ),
    command(
      "declare",
      "Say what a model can, where the provider says it wrongly or not.",
      () => import("./declared.ts"),
      (m) => m.modelDeclare,
      { examples: ["model declare openai/my-finetune-1 --context-length 128000 --vision yes"] }
    ),
    command(
      "declared",
      "List the models that were declared.",
      () => import("./declared.ts"),
      (m) => m.declaredList,
      { examples: ["model declared"] }
    ),
    command(
      "undeclare",
      "Take back what was declared of a model.",
      () => import("./declared.ts"),
      (m) => m.modelUndeclare,
      { examples: ["model undeclare openai/my-finetune-1"] }
    ),
    alias,
    pricing
  ],
  {
    section: "Connect",
    skill: "cli-models",
    aliases: ["models"],
    otherwise: { name: "list", takesWords: true },
    examples: ["models", "models openai --json", "model alias list"]
  }
)

/** Prices are also a group within `model`. */
export const commands: ReadonlyArray<TreeNode> = [model, { ...pricing, hidden: true, skill: "cli-models" }]
