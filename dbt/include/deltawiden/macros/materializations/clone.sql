{#
  Create a shallow clone of a Delta table, or a view of another relation.

  This adapter has its own materialization because dbt-spark's fails at grants, clones a table onto itself, and
  replaces an existing table, which Delta refuses if the table has rows.
#}
{% materialization clone, adapter='deltawiden' %}
  {%- set own = adapter.spark_materialization(context, 'clone') -%}
  {%- if own is not none -%}{{ return(own()) }}{%- endif -%}

  {%- if not defer_relation -%}
    {% do log('No relation found in state manifest for ' ~ model.unique_id, info=True) %}
    {{ return({'relations': []}) }}
  {%- endif -%}

  {%- set existing = load_cached_relation(this) -%}
  {%- if existing and not flags.FULL_REFRESH -%}
    {% do log('Relation ' ~ existing ~ ' already exists', info=True) %}
    {{ return({'relations': []}) }}
  {%- endif -%}

  {#- A table must not be replaced by a view of itself. -#}
  {%- if existing and existing.render() == defer_relation.render() -%}
    {% do log('Target relation and defer relation are the same, skipping clone for relation: ' ~ existing) %}
    {{ return({'relations': [existing]}) }}
  {%- endif -%}

  {%- set other = load_cached_relation(defer_relation) -%}
  {%- if not (other and other.is_delta and can_clone_table()) -%}
    {#- A view is made of `sql`, which dbt gives to SQL models only. -#}
    {%- do context.update({'sql': compiled_code}) -%}
    {#- dbt-spark looks for a view in the same way. -#}
    {%- set name = 'materialization_view_' ~ adapter.type() -%}
    {{ return(context[name if name in context else 'materialization_view_spark']()) }}
  {%- endif -%}

  {%- set target_relation = this.incorporate(type='table') -%}
  {#- A dropped table leaves its files in a folder of its own, and Delta clones into none with files. It says what to do. -#}
  {%- if existing is not none and not (existing.is_table and location_clause() | trim) -%}
    {% do _deltawiden_drop_for('select * from ' ~ other.render(), existing) %}
  {%- endif -%}
  {%- call statement('main') -%}
    {{ create_or_replace_clone(target_relation, other) }}
    {{ _deltawiden_clone_location() }}
  {%- endcall -%}

  {% do apply_grants(target_relation, config.get('grants'), should_revoke=should_revoke(existing, full_refresh_mode=True)) %}
  {% do persist_docs(target_relation, model) %}

  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}


{#- The folder of the node's own table, and whose it is: a clone has the properties of the other table. -#}
{% macro _deltawiden_clone_location() %}
  {%- set location = location_clause() -%}
  {%- if location | trim -%}
    tblproperties ({{ adapter.properties_sql(adapter.services().folders.owner(this)) }})
    {{ location }}
  {%- endif -%}
{% endmacro %}
