{#-
  Check the arguments that all operations have, before anything runs. A misspelt argument name such as `dryrun` must
  not start a real run, and a text must not be used as a boolean: in Jinja, every text is true.
-#}
{% macro _deltawiden_check_arguments(operation, unknown_arguments, output, booleans={}, outputs=['text', 'json']) %}
  {%- set name = operation.macro.name -%}
  {%- if unknown_arguments -%}
    {%- set accepted = operation.macro.arguments | map(attribute='name') -%}
    {% do exceptions.raise_compiler_error(
      name ~ ': there is no argument ' ~ unknown_arguments | join(', ') ~ '; accepted: ' ~ accepted | join(', ')) %}
  {%- endif -%}
  {%- if output not in outputs -%}
    {% do exceptions.raise_compiler_error(name ~ ": output: got '" ~ output ~ "'; accepted: " ~ outputs | join(', ')) %}
  {%- endif -%}
  {%- for argument, value in booleans.items() if value is not boolean -%}
    {% do exceptions.raise_compiler_error(
      name ~ ': ' ~ argument ~ ": got '" ~ value ~ "'; accepted: true, false") %}
  {%- endfor -%}
{% endmacro %}
