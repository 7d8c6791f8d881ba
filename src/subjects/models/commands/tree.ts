/** The commands about models, their other names and their prices. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { list, remove } from "../../../cli/tree/verbs.ts"

const fromAlias = from(() => import("./alias.ts"))
const fromPricing = from(() => import("../../pricing/commands.ts"))
const fromList = from(() => import("./list.ts"))
const fromDeclared = from(() => import("./declared.ts"))

const alias = group(
  "alias",
  "Other names for models.",
  [
    fromAlias("add", "aliasAdd", "Make a name stand for a model; a former meaning is replaced.", {
      aliases: ["set", "create"],
      examples: ["model alias add best openai/gpt-4o"]
    }),
    fromAlias("list", "aliasList", "List the other names.", {
      ...list,
      examples: ["model alias list"]
    }),
    fromAlias("remove", "aliasRemove", "Remove an alias.", {
      ...remove,
      examples: ["model alias remove best"]
    })
  ],
  { aliases: ["aliases"], examples: ["model alias list"] }
)

const pricing = group(
  "pricing",
  "Prices of your own, in USD per 1,000,000 tokens.",
  [
    fromPricing("list", "pricingList", "List the prices that were set.", { ...list, examples: ["pricing list"] }),
    fromPricing("show", "pricingShow", "Show the price that was set for a model.", {
      aliases: ["get"],
      examples: ["pricing show openai/gpt-4o-mini"]
    }),
    fromPricing("set", "pricingSet", "Set the price of a model.", {
      examples: ["pricing set openai/gpt-4o-mini --in 0.15 --out 0.6 --cached 0.075"]
    }),
    fromPricing("unset", "pricingUnset", "Let the price count again that the gateway comes with.", {
      ...remove,
      examples: ["pricing unset openai/gpt-4o-mini"]
    })
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
    fromList("list", "modelsCommand", "List the models a client can ask for, all or one provider's.", {
      ...list,
      examples: ["model list", "models openai --json", "models --all"]
    }),
    fromDeclared("show", "modelShow", "Show what is known of a model.", {
      aliases: ["get"],
      examples: ["model show openai/gpt-4o-mini"]
    }),
    fromDeclared("declare", "modelDeclare", "Say what a model can, where the provider says it wrongly or not.", {
      examples: ["model declare openai/my-finetune-1 --context-length 128000 --vision yes"]
    }),
    fromDeclared("declared", "declaredList", "List the models that were declared.", { examples: ["model declared"] }),
    fromDeclared("undeclare", "modelUndeclare", "Take back what was declared of a model.", {
      examples: ["model undeclare openai/my-finetune-1"]
    }),
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
