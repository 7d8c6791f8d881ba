// Imports of data files (`*.yaml`): each becomes a module with the value, so that the program parses nothing when it starts. For the bundler and for Vitest.
import { parse } from "yaml"

export const dataFiles = {
  name: "data-files",
  transform: (text, id) =>
    id.endsWith(".yaml") ? { code: `export default ${JSON.stringify(parse(text))}`, map: null, moduleType: "js" } : null
}
