/** Installs the agents of this folder, where they are not. */
import { ensure } from "../Cache.ts"
import { chosen } from "../Chosen.ts"
import { bridged } from "./Bridged.ts"

for (const { id, agent } of bridged({ gateway: "", both: "" })) if (chosen("AGENTS_ONLY")(id)) ensure(agent.package)
