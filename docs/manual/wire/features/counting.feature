Feature: Counting
  Two programs print the same numbers. The quick one stays quick.

  Background:
    Given the parameter "count" is "20000"
    And these programs:
      | program | command                                                |
      | seq     | seq {count}                                            |
      | awk     | awk 'BEGIN { for (i = 1; i <= {count}; i++) print i }' |
    And the option "check" is "same-output"

  Scenario: seq is quicker than awk
    When they are raced for at most 30 s with an error of 1%
    Then "seq" is at least 1.2x faster than "awk"
    And 90% of "seq" take less than 1 s

  Scenario: Several claims share a race
    When they are raced for at most 30 s
    Then these claims hold:
      """
      seq is faster than awk
      seq succeeds at least 90% of the time
      """

  Scenario: A verdict that is expected is no failure, whichever it is
    When they are raced for at most 30 s
    Then the verdicts are:
      | claim                               | verdict |
      | seq is faster than awk              | holds   |
      | seq is at least 90x faster than awk | refuted |
