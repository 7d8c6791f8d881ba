/** Names the run, so that its files share one build, and removes that at its end. */
import { removeBuild } from "./built.ts"

export default (): (() => void) => removeBuild
