/** The `User-Agent` of Rampart's requests. */
export const USER_AGENT = "rampart/0.1.0";
