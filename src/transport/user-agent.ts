/** How Rampart names itself to servers. */
export const USER_AGENT = "rampart/0.1.0";
