export const isSlowRun = ["slow", "all"].includes(process.env["TEST_PART"] ?? "")

/** Takes the first in `npm test` and the second in `npm run test:slow`. A file that asks runs in both. */
export const counted = <A>(plain: A, slow: A): A => (isSlowRun ? slow : plain)
