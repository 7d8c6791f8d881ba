/** The commands `setup-<tool>`. */
import { toolSetups } from "../../../agents/tools/config/tools/index.ts"
import { makeSetup } from "./setup.ts"

/** Makes the setup of the tool with this id; there is one for each command of the tree. */
export const setupCommand = (id: string) => {
  const tool = toolSetups.find((each) => each.id === id)
  if (tool === undefined) throw new Error(`There is no tool '${id}'.`)
  return makeSetup(tool)
}
